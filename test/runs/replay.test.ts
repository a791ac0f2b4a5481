// What a repeated run finds: every outcome of its own attempt, completed entries of earlier ones, and what the policy
// says about a call that a crash interrupted. The crashes are deaths within the process (world.ts); real ones are in
// test/crash.
import { describe, expect, it } from 'vitest'
import { ErrandError, Failure } from '../../src/core/errors.ts'
import { defineExecutor, type Run } from '../../src/entities/executor.ts'
import type { OnInterrupt } from '../../src/entities/task-fields.ts'
import { createWorld, gate, type World } from './world.ts'

describe('within one attempt', () => {
  it('a completed call returns its recorded JSON image, in the first run too', async () => {
    const seen: unknown[] = []
    const world = await createWorld(async (_task, run) => {
      seen.push(await run.call('date', () => ({ at: new Date(0), absent: undefined, list: [undefined, Number.NaN] })))
      seen.push(await run.call('nothing', () => undefined))
      if (run.number === 1) await run.sleep(30)
    })
    const task = await world.engine.create({ executor: 'work' })
    await world.engine.result(task)
    const image = { at: '1970-01-01T00:00:00.000Z', list: [null, null] }
    expect(seen).toEqual([image, null, image, null])
    expect(await world.engine.result(task)).toBe(null)
  })

  it('the result of the executor is its JSON image', async () => {
    const world = await createWorld(async () => ({ at: new Date(0), absent: undefined }))
    const task = await world.engine.create({ executor: 'work' })
    expect(await world.engine.result(task)).toEqual({ at: '1970-01-01T00:00:00.000Z' })
  })

  it('a failed call fails again with the same code, message and details, and is not executed again', async () => {
    let executed = 0
    const seen: unknown[] = []
    const world = await createWorld(async (_task, run) => {
      try {
        await run.call('pay', () => {
          executed++
          throw new Failure('card refused', { code: 'CARD_REFUSED', details: { card: 7 } })
        })
      } catch (error) {
        const { code, message, details } = error as Failure
        seen.push({ code, message, details })
      }
      if (run.number === 1) await run.sleep(30)
    })
    const task = await world.engine.create({ executor: 'work' })
    await world.engine.result(task)
    expect(executed).toBe(1)
    expect(seen).toHaveLength(2)
    expect(seen[0]).toEqual({ code: 'CARD_REFUSED', message: 'card refused', details: { card: 7 } })
    expect(seen[1]).toEqual(seen[0])
  })

  it('a call whose function threw an ordinary error fails again with it, and a final failure is final again', async () => {
    const seen: unknown[] = []
    const world = await createWorld(async (_task, run) => {
      await run.call('plain', () => Promise.reject(new TypeError('no'))).catch((error: unknown) => seen.push(error))
      await run
        .call('final', () => Promise.reject(new Failure('never', { retry: false })))
        .catch((error: unknown) => seen.push(error))
      if (run.number === 1) await run.sleep(30)
    })
    const task = await world.engine.create({ executor: 'work' })
    await world.engine.result(task)
    expect(seen[0]).toBeInstanceOf(TypeError)
    expect(seen[2]).toEqual(seen[0])
    expect(seen[3]).toMatchObject({ retry: false, message: 'never' })
  })

  it('children are not spawned again, and messages are not appended again', async () => {
    const world = await createWorld(async (_task, run) => {
      const [a, b] = await run.spawn([
        { executor: 'other', name: 'a' },
        { executor: 'other', name: 'b' },
      ])
      const id = await run.message('assistant', 'hello')
      const keyed = await run.message('assistant', `at run ${run.number}`, { key: 'status' })
      const results = await run.wait([a as { id: string }, b as { id: string }])
      await run.sleep(30)
      return { results, id, keyed }
    })
    const task = await world.engine.create({ executor: 'work' })
    expect(await world.engine.result(task)).toMatchObject({ results: ['other', 'other'] })
    expect(await world.engine.children(task)).toHaveLength(2)
    expect((await world.engine.messages(task)).map((each) => each.content)).toEqual(['hello', 'at run 1'])
    expect((await world.engine.runs(task)).length).toBeGreaterThan(1)
  })

  it('a token stream is stored once, whole; one found by its key is not read again', async () => {
    let streams = 0
    async function* tokens() {
      streams++
      yield* ['he', 'l', 'lo']
    }
    const world = await createWorld(async (_task, run) => {
      await run.message('assistant', tokens(), { key: 'greeting' })
      await run.message('assistant', tokens())
      await run.ask('Go on?')
    })
    world.engine.subscribe('question.asked', ({ taskId }) => void world.engine.answer(taskId, 'yes'))
    const task = await world.engine.create({ executor: 'work' })
    await world.engine.result(task)
    expect((await world.engine.messages(task)).map((each) => each.content)).toEqual(['hello', 'hello'])
    expect(streams).toBe(3)
  })

  it('nothing of a token stream is stored when the run dies before its end', async () => {
    const begun = gate()
    const world = await createWorld(async (_task, run) => {
      async function* tokens() {
        yield 'half of '
        if (run.number === 1) {
          begun.resolve()
          await new Promise(() => {})
        }
        yield 'it'
      }
      await run.message('assistant', tokens())
    })
    const task = await world.engine.create({ executor: 'work' })
    await begun.promise
    world.die()
    const second = await world.another()
    await second.engine.result(task)
    expect((await second.engine.messages(task)).map((each) => each.content)).toEqual(['half of it'])
  })

  it('an answer, an ended sleep and a wait are found in the journal', async () => {
    const asked: number[] = []
    const world = await createWorld(async (_task, run) => {
      asked.push(run.number)
      const answer = await run.ask('Which?', { enum: ['a', 'b'] })
      await run.sleep(50)
      const child = await run.spawn({ executor: 'other' })
      return [answer, await run.wait(child)]
    })
    const task = await world.engine.create({ executor: 'work' })
    await world.eventOf(task.id, 'task.input_required')
    await world.engine.answer(task, 'b')
    expect(await world.engine.result(task)).toEqual(['b', 'other'])
    const events = []
    for await (const { type } of world.engine.events({ taskId: task.id, follow: false })) events.push(type)
    expect(events.filter((type) => type === 'question.asked')).toHaveLength(1)
  })
})

describe('a new attempt', () => {
  it('a new attempt replays completed calls and repeats failed ones', async () => {
    const executed: string[] = []
    const world = await createWorld(async (_task, run) => {
      const good = await run.call('good', () => executed.push('good') && 'kept')
      const bad = await run.call('bad', () => {
        executed.push('bad')
        if (run.attempt === 1) throw new Error('not yet')
        return 'now'
      })
      return [good, bad]
    })
    const task = await world.engine.create({ executor: 'work', retry: { maxAttempts: 2 } })
    expect(await world.engine.result(task)).toEqual(['kept', 'now'])
    expect(executed).toEqual(['good', 'bad', 'bad'])
    expect((await world.engine.calls(task)).map(({ name, status, attempt }) => [name, status, attempt])).toEqual([
      ['good', 'completed', 1],
      ['bad', 'failed', 1],
      ['bad', 'completed', 2],
    ])
    const failed = await world.eventOf(task.id, 'task.failed')
    expect(failed.data.willRetry).toBe(true)
  })

  it('S3-058 started by hand replays completed calls and repeats failed ones', async () => {
    const executed: string[] = []
    const world = await createWorld(async (_task, run) => {
      await run.call('good', () => executed.push('good'))
      await run.ask('Sure?')
      await run.call('bad', () => {
        executed.push('bad')
        if (run.attempt === 1) throw new Error('not yet')
      })
    })
    const task = await world.engine.create({ executor: 'work' })
    await world.eventOf(task.id, 'task.input_required')
    await world.engine.answer(task, true)
    expect((await world.engine.settled(task)).status).toBe('failed')
    await world.engine.retry(task)
    expect((await world.engine.settled(task)).status).toBe('completed')
    expect(executed).toEqual(['good', 'bad', 'bad'])
  })

  it('a new attempt keeps completed children, retries failed ones and creates canceled ones anew', async () => {
    const attempts: string[] = []
    const held = gate<{ taskId: string }>()
    const child = async (task: { id: string; name: string }, run: Run) => {
      attempts.push(`${task.name}${run.attempt}`)
      if (task.name === 'bad' && run.attempt === 1) throw new Error('once')
      if (task.name === 'removed' && attempts.filter((each) => each.startsWith('removed')).length === 1) {
        held.resolve({ taskId: task.id })
        await new Promise((resolve) => run.signal.addEventListener('abort', resolve))
      }
    }
    const parent = async (task: never, run: Run) => {
      const children = await run.spawn([
        { executor: 'child', name: 'good' },
        { executor: 'child', name: 'bad' },
        { executor: 'child', name: 'removed' },
      ])
      await run.wait(children, { settled: true })
      const outcomes = await run.wait(children)
      return { outcomes: outcomes.length, ids: children.map((each) => each.id), task }
    }
    const family = await createWorld(parent as never, { executors: { work: parent as never, child: child as never } })
    const task = await family.engine.create({ executor: 'work', retry: { maxAttempts: 2 } })
    const { taskId } = await held.promise
    await family.engine.cancel(taskId)
    const result = (await family.engine.result(task)) as { ids: string[] }
    expect(attempts.sort()).toEqual(['bad1', 'bad2', 'good1', 'removed1', 'removed1'])
    const before = (await family.engine.children(task)).map((each) => each.id)
    expect(before).toHaveLength(4)
    expect(result.ids[2]).not.toBe(taskId)
    expect(family.errors).toEqual([])
  })

  it('a new attempt repeats unanswered questions, keeps the answers, and sleeps no second time', async () => {
    const world = await createWorld(async (_task, run) => {
      const first = await run.ask('First?')
      await run.sleep(50)
      if (run.attempt === 1) throw new Error('after the first')
      return [first, await run.ask('Second?', null, { timeoutMs: 1, default: 'none' })]
    })
    const task = await world.engine.create({ executor: 'work', retry: { maxAttempts: 2 } })
    await world.eventOf(task.id, 'task.input_required')
    await world.engine.answer(task, 'yes')
    expect(await world.engine.result(task)).toEqual(['yes', 'none'])
  })
})

/** Dies in the middle of the call `pay`, restarts, and returns what the second engine did. */
async function interrupted(
  policies: { call?: OnInterrupt; task?: OnInterrupt; executor?: OnInterrupt; engine?: OnInterrupt },
  options: { maxAttempts?: number } = {},
): Promise<{ second: World; taskId: string; executed: string[] }> {
  const executed: string[] = []
  const paying = gate()
  const work = defineExecutor({
    ...(policies.executor ? { onInterrupt: policies.executor } : {}),
    run: async (_task, run) => {
      await run.call('look', () => executed.push('look'))
      return run.call(
        'pay',
        (_params, { callId }) => {
          executed.push(callId)
          if (executed.length > 2) return 'paid'
          paying.resolve()
          return new Promise(() => {})
        },
        policies.call ? { onInterrupt: policies.call } : {},
      )
    },
  })
  const world = await createWorld(work, policies.engine ? { onInterrupt: policies.engine } : {})
  const task = await world.engine.create({
    executor: 'work',
    ...(policies.task ? { onInterrupt: policies.task } : {}),
    retry: { maxAttempts: options.maxAttempts ?? 1 },
  })
  await paying.promise
  world.die()
  return { second: await world.another(), taskId: task.id, executed }
}

describe('a call that a crash interrupted', () => {
  it('a call that a crash interrupted fails the attempt with CALL_INTERRUPTED by default, stays failed and is not executed again', async () => {
    const { second, taskId, executed } = await interrupted({})
    const outcome = await second.engine.settled(taskId)
    expect(outcome).toMatchObject({ status: 'failed', error: { code: 'CALL_INTERRUPTED' } })
    expect(executed).toHaveLength(2)
    const calls = await second.engine.calls(taskId)
    expect(calls.map(({ name, status }) => [name, status])).toEqual([
      ['look', 'completed'],
      ['pay', 'failed'],
    ])
    expect(calls[1]?.error).toMatchObject({ code: 'CALL_INTERRUPTED', message: 'Process crashed during execution' })
    expect((await second.engine.messages(taskId)).map((each) => each.content)).toEqual([
      '✗ pay failed due to process crash',
    ])
  })

  it('a call that a crash interrupted is repeated by the next attempt when the retry policy covers it', async () => {
    const { second, taskId, executed } = await interrupted({}, { maxAttempts: 2 })
    expect(await second.engine.result(taskId)).toBe('paid')
    expect(new Set(executed).size).toBe(3)
  })

  it('a call that a crash interrupted may be caught by the run, which then decides', async () => {
    const paying = gate()
    const world = await createWorld(async (_task, run) => {
      try {
        return await run.call('pay', () => {
          paying.resolve()
          return new Promise(() => {})
        })
      } catch (error) {
        if (ErrandError.isInstance(error) && error.code === 'CALL_INTERRUPTED')
          return run.call('check', () => 'was paid')
        throw error
      }
    })
    const task = await world.engine.create({ executor: 'work' })
    await paying.promise
    world.die()
    expect(await (await world.another()).engine.result(task)).toBe('was paid')
  })

  it.each([
    ['call', { call: 'rerun', task: 'fail', executor: 'fail', engine: 'fail' }],
    ['task', { task: 'rerun', executor: 'fail', engine: 'fail' }],
    ['executor', { executor: 'rerun', engine: 'fail' }],
    ['engine', { engine: 'rerun' }],
  ] as const)(
    'an interrupted call is executed again as a new call row when the %s has onInterrupt rerun',
    async (_level, policies) => {
      const { second, taskId, executed } = await interrupted(policies)
      expect(await second.engine.result(taskId)).toBe('paid')
      expect(new Set(executed).size).toBe(3)
      expect((await second.engine.calls(taskId)).map(({ name, status }) => [name, status])).toEqual([
        ['look', 'completed'],
        ['pay', 'failed'],
        ['pay', 'completed'],
      ])
    },
  )

  it.each([
    ['rerun', 'completed'],
    ['fail', 'failed'],
  ] as const)(
    'a call that a crash interrupted is decided by a person with onInterrupt ask, and the answer %s makes the task %s',
    async (answer, status) => {
      const { second, taskId, executed } = await interrupted({ task: 'ask' })
      await second.eventOf(taskId, 'task.input_required')
      const [question] = (await second.engine.get(taskId))?.questions ?? []
      expect(question?.question).toContain('"pay" was interrupted')
      expect(executed).toHaveLength(2)
      await second.engine.answer(taskId, answer)
      expect((await second.engine.settled(taskId)).status).toBe(status)
      expect(executed).toHaveLength(answer === 'rerun' ? 3 : 2)
    },
  )
})

it('a task whose runs die three times without recording anything fails as POISONED', async () => {
  let started = gate()
  const work = async () => {
    started.resolve()
    await new Promise(() => {})
  }
  let world = await createWorld(work)
  const task = await world.engine.create({ executor: 'work', retry: { maxAttempts: 5 } })
  for (let crash = 1; crash <= 3; crash++) {
    await started.promise
    started = gate()
    world.die()
    world = await world.another()
  }
  expect(await world.engine.settled(task)).toMatchObject({ status: 'failed', error: { code: 'POISONED' } })
  expect((await world.engine.runs(task)).map((run) => run.outcome)).toEqual([
    'interrupted',
    'interrupted',
    'interrupted',
  ])
})

it('a run released by a closing engine counts as no crash, and the next engine continues', async () => {
  let started = gate()
  let runs = 0
  const work = async (_task: unknown, run: Run) => {
    started.resolve()
    if (++runs <= 5) await new Promise((resolve) => run.signal.addEventListener('abort', resolve))
    return 'done'
  }
  let world = await createWorld(work, { maxCrashes: 2 })
  const task = await world.engine.create({ executor: 'work' })
  for (let turn = 1; turn <= 5; turn++) {
    await started.promise
    started = gate()
    await world.engine.close()
    world = await world.another()
  }
  expect(await world.engine.result(task)).toBe('done')
  expect((await world.engine.runs(task)).map((run) => run.outcome)).toEqual([...Array(5).fill('released'), 'completed'])
})

it('a run that ended by itself between two deaths exonerates its task, which is not POISONED', async () => {
  let started = gate<number>()
  const work = async (_task: unknown, run: Run) => {
    started.resolve(run.number)
    // Every other run reaches its question; the others die before they have recorded anything.
    if (run.number % 2 === 1) await new Promise(() => {})
    for (let n = 1; n <= run.number / 2; n++) await run.ask(`Question ${n}?`)
    return 'done'
  }
  let world = await createWorld(work, { maxCrashes: 2 })
  const task = await world.engine.create({ executor: 'work' })
  for (let turn = 1; turn <= 4; turn++) {
    await started.promise
    started = gate()
    world.die()
    world = await world.another()
    await world.eventOf(task.id, 'task.input_required', (event) => event.data['run'] === turn * 2)
    started = gate()
    await world.engine.answer(task, turn)
  }
  expect(await started.promise).toBe(9)
  expect((await world.engine.get(task))?.status).toBe('working')
})
