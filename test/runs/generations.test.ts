// `run.continueAsNew`: a task goes on with another input and an empty journal.
import { expect, it } from 'vitest'
import { z } from 'zod'
import { defineAbility } from '../../src/bus/ability.ts'
import { defineExecutor, type Run } from '../../src/entities/executor.ts'
import { SimulatedClock } from '../../src/testing/simulated-clock.ts'
import { history, ledgerFile, openEngine, reached, refusalOf, turns } from '../engine/world.ts'
import { violationsIn } from '../ledger/check/violations-in.ts'

type Loop = { input: { turn: number } }

it('the next generation begins the function anew, with the new input, at attempt 1 and with an empty journal', async () => {
  const seen: unknown[] = []
  const work = async ({ input: { turn } }: Loop, run: Run) => {
    const drawn = await run.call('draw', () => `drawn in ${turn}`)
    seen.push([turn, run.number, run.attempt, drawn])
    if (turn === 2 && run.attempt === 1) throw new Error('again')
    return turn < 3 ? run.continueAsNew({ turn: turn + 1 }) : 'done'
  }
  const engine = await openEngine({ executors: { work } })
  const task = await engine.create({ executor: 'work', input: { turn: 1 }, key: 'loop', retry: { maxAttempts: 2 } })
  expect(await engine.result(task)).toBe('done')
  expect(seen).toEqual([
    [1, 1, 1, 'drawn in 1'],
    [2, 2, 1, 'drawn in 2'],
    [2, 3, 2, 'drawn in 2'],
    [3, 4, 1, 'drawn in 3'],
  ])
  expect(await engine.get(task)).toMatchObject({
    id: task.id,
    key: 'loop',
    generation: 3,
    attempt: 1,
    input: { turn: 3 },
  })
  const continued = (await history(engine, task.id)).filter(({ type }) => type === 'task.waiting')
  expect(continued.map(({ data }) => [data['reason'], data['generation']])).toEqual([
    ['continued', 2],
    ['continued', 3],
  ])
})

it('calls and runs of earlier generations stay readable, of one generation or of all', async () => {
  const work = async ({ input: { turn } }: Loop, run: Run) => {
    await run.call(`turn ${turn}`, () => turn)
    return turn < 3 ? run.continueAsNew({ turn: turn + 1 }) : turn
  }
  const engine = await openEngine({ executors: { work } })
  const task = await engine.create({ executor: 'work', input: { turn: 1 } })
  await engine.result(task)
  const names = async (options?: { generation: number }) => (await engine.calls(task, options)).map(({ name }) => name)
  expect(await names()).toEqual(['turn 1', 'turn 2', 'turn 3'])
  expect(await names({ generation: 2 })).toEqual(['turn 2'])
  expect((await engine.runs(task, { generation: 3 })).map(({ number }) => number)).toEqual([3])
  const page = await engine.bus.call('task:calls', { taskId: task.id, generation: 2 })
  expect((page as { calls: Array<{ name: string; generation: number }> }).calls).toMatchObject([
    { name: 'turn 2', generation: 2 },
  ])
  expect((await refusalOf(() => engine.calls(task, { generation: 0 }), 'INVALID_INPUT')).message).toContain(
    'generation',
  )
})

it('the children and the signals that were not taken stay, and open questions and waits are closed', async () => {
  const work = async ({ input: { turn, child } }: { input: { turn: number; child?: string } }, run: Run) => {
    if (turn === 2) return [await run.waitForSignal('paid'), await run.wait(child as string)]
    const spawned = await run.spawn({ executor: 'other' })
    void run.ask('Is it right?')
    await run.waitForSignal('go')
    return run.continueAsNew({ turn: 2, child: spawned.id })
  }
  const ledger = ledgerFile()
  const engine = await openEngine({
    ledger,
    executors: { work, other: (_task: unknown, run: Run) => run.waitForSignal('end') },
  })
  const task = await engine.create({ executor: 'work', input: { turn: 1 } })
  await reached(engine, task, 'input_required')
  await engine.signal(task, 'paid', 12)
  await engine.signal(task, 'go')
  await reached(engine, task, 'waiting')
  const [child] = await engine.children(task)
  expect(await engine.get(task)).toMatchObject({ generation: 2, questions: [] })
  await engine.signal(child as never, 'end', 'ended')
  expect(await engine.result(task)).toEqual([12, 'ended'])
  await engine.close()
  expect(await violationsIn(ledger)).toEqual([])
})

it('an input that the schema refuses is refused before the generation ends', async () => {
  const refused: unknown[] = []
  const work = defineExecutor({
    input: z.object({ turn: z.number() }),
    result: z.object({ turns: z.number() }),
    async run({ input: { turn } }, run) {
      await run.continueAsNew({ turn: 'two' }).catch((error: { code: string }) => refused.push(error.code))
      return turn === 1 ? run.continueAsNew({ turn: 2 }) : { turns: turn }
    },
  })
  const engine = await openEngine({ executors: { work } })
  expect(await engine.result(await engine.create({ executor: 'work', input: { turn: 1 } }))).toEqual({ turns: 2 })
  expect(refused).toEqual(['INVALID_INPUT', 'INVALID_INPUT'])
})

it('after it the function can request nothing more, its result is ignored, and a failure is the failure of the attempt', async () => {
  const seen: unknown[] = []
  const work = async ({ input }: { input: string }, run: Run) => {
    if (input === 'second') return 'done'
    await run.continueAsNew('second')
    await run.call('late', () => seen.push('made')).catch((error: { code: string }) => seen.push(error.code))
    if (input === 'failing') throw new Error('broken')
    return 'ignored'
  }
  const engine = await openEngine({ executors: { work } })
  expect(await engine.result(await engine.create({ executor: 'work', input: 'first' }))).toBe('done')
  const failing = await engine.create({ executor: 'work', input: 'failing' })
  expect(await engine.settled(failing)).toMatchObject({ status: 'failed', error: { message: 'broken' } })
  expect(await engine.get(failing)).toMatchObject({ generation: 1, input: 'failing' })
  expect(seen).toEqual(['RUN_ENDED', 'RUN_ENDED'])
})

it('what the run still waits for is refused by it, and keeps the function from nothing that it does before it returns', async () => {
  const seen: unknown[] = []
  const work = async ({ input }: { input: string }, run: Run) => {
    if (input === 'second') return 'done'
    const [question, sleep] = [run.ask('Is it right?'), run.sleep('1h')]
    await run.call('send', () => 1)
    try {
      return await run.continueAsNew('second')
    } finally {
      for (const each of [question, sleep]) await each.catch((error: { code: string }) => seen.push(error.code))
      await turns()
      seen.push('released')
    }
  }
  const engine = await openEngine({ executors: { work } })
  expect(await engine.result(await engine.create({ executor: 'work', input: 'first' }))).toBe('done')
  expect(seen).toEqual(['RUN_ENDED', 'RUN_ENDED', 'released'])
})

it('the identity of a call is another one in each generation', async () => {
  const identities: string[] = []
  const work = async ({ input: { turn } }: Loop, run: Run) => {
    await run.call('charge', (_params, { identity }) => identities.push(identity))
    return turn < 2 ? run.continueAsNew({ turn: turn + 1 }) : turn
  }
  const engine = await openEngine({ executors: { work } })
  await engine.result(await engine.create({ executor: 'work', input: { turn: 1 } }))
  expect(new Set(identities).size).toBe(2)
})

it('a key that is used again finds the task, with whatever input its present generation has', async () => {
  const work = ({ input }: { input: string }, run: Run) =>
    input === 'first' ? run.continueAsNew('second') : run.waitForSignal('end')
  const engine = await openEngine({ executors: { work } })
  const task = await engine.create({ executor: 'work', key: 'loop', input: 'first' })
  await reached(engine, task, 'waiting')
  expect((await engine.create({ executor: 'work', key: 'loop', input: 'first' })).id).toBe(task.id)
})

it('a call of an earlier generation is not repeated by a retry', async () => {
  const work = async ({ input }: { input: string }, run: Run) => {
    await run.call('charge', () => 1)
    if (input === 'first') return run.continueAsNew('second')
    throw new Error('broken')
  }
  const engine = await openEngine({ executors: { work } })
  const task = await engine.create({ executor: 'work', input: 'first' })
  await engine.settled(task)
  const [earlier, present] = await engine.calls(task)
  const refusal = await refusalOf(() => engine.retry(task, { repeat: [earlier?.id as string] }), 'INVALID_INPUT')
  expect(refusal.message).toContain('it is of an earlier generation')
  await engine.retry(task, { repeat: [present?.id as string] })
  await engine.settled(task)
  expect((await engine.calls(task)).map(({ generation, attempt }) => [generation, attempt])).toEqual([
    [1, 1],
    [2, 1],
    [2, 2],
  ])
})

it('another engine goes on with the generation that the ledger has', async () => {
  const ledger = ledgerFile()
  const work = async ({ input: { turn } }: Loop, run: Run) => {
    await run.message('assistant', `turn ${turn}`)
    await run.sleep('1h')
    return turn < 4 ? run.continueAsNew({ turn: turn + 1 }) : turn
  }
  const clock = new SimulatedClock()
  let id = ''
  for (let round = 1; ; round++) {
    const engine = await openEngine({ ledger, clock, executors: { work } })
    id ||= (await engine.create({ executor: 'work', input: { turn: 1 } })).id
    await clock.advance('1h')
    await engine.idle()
    const { status, generation } = (await engine.get(id)) as { status: string; generation: number }
    const said = (await engine.messages(id)).map(({ content }) => content)
    await engine.close()
    expect(said).toEqual(Array.from({ length: generation }, (_each, n) => `turn ${n + 1}`))
    if (status === 'completed') break
    expect(round).toBeLessThan(9)
  }
  expect(await violationsIn(ledger)).toEqual([])
})

it('is refused inside a call, which would keep the run open', async () => {
  const continues = defineAbility({
    id: 'test:continue',
    description: 'Continues.',
    input: z.object({}),
    output: z.unknown(),
    handle: (_input, { run }) => run?.continueAsNew(1),
  })
  const work = (_task: unknown, run: Run) => run.invoke('test:continue')
  const engine = await openEngine({ executors: { work }, abilities: [continues] })
  const failed = await reached(engine, await engine.create({ executor: 'work' }), 'failed')
  expect(failed.error?.message).toContain('run.continueAsNew cannot end the run inside a call')
})
