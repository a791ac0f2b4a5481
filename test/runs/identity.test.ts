// The identity rule: what an earlier run did is found by kind, name and params (or key), n-th among equals, never by position.
import { describe, expect, it } from 'vitest'
import { fromJson } from '../../src/core/json.ts'
import type { CallRecord } from '../../src/entities/call.ts'
import type { ExecutorTask, Run } from '../../src/entities/executor.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { RunJournal } from '../../src/machines/run-journal.ts'
import { ledgerFile, openEngine } from '../engine/world.ts'
import { createWorld, gate } from './world.ts'

/** Each execution of a call function leaves its mark here. */
const marks = () => {
  const made: string[] = []
  return { made, mark: (text: string) => made.push(text) }
}

describe('a call of an earlier run', () => {
  it('a call of an earlier run is found by its name and params, whatever comes before it', async () => {
    const { made, mark } = marks()
    const world = await createWorld(async (_task, run) => {
      const order = run.number === 1 ? ['a', 'b', 'c'] : ['c', 'b', 'a', 'extra']
      const results: Record<string, unknown> = {}
      for (const name of order) {
        results[name] = await run.call('read', { name }, (params) => {
          mark(params.name)
          return `text of ${params.name}`
        })
      }
      await run.ask('Go on?')
      return results
    })
    const task = await world.engine.create({ executor: 'work' })
    await world.eventOf(task.id, 'task.input_required')
    await world.engine.answer(task, true)
    expect(await world.engine.result(task)).toEqual({
      c: 'text of c',
      b: 'text of b',
      a: 'text of a',
      extra: 'text of extra',
    })
    expect(made).toEqual(['a', 'b', 'c', 'extra'])
  })

  it('a call of an earlier run is distinguished from one with equal params by its name, and from one with an equal name by its params', async () => {
    const { made, mark } = marks()
    const world = await createWorld(async (_task, run) => {
      const results = []
      for (const [name, n] of [
        ['x', 1],
        ['y', 1],
        ['x', 2],
      ] as const) {
        results.push(await run.call(name, { n }, () => mark(`${name}${n}`) && `${name}${n}`))
      }
      if (run.number === 1) await run.sleep(30)
      return results
    })
    const task = await world.engine.create({ executor: 'work' })
    expect(await world.engine.result(task)).toEqual(['x1', 'y1', 'x2'])
    expect(made).toEqual(['x1', 'y1', 'x2'])
  })

  it('a call of an earlier run is found although the keys of its params have another order', async () => {
    const { made, mark } = marks()
    const world = await createWorld(async (_task, run) => {
      const params = run.number === 1 ? { a: 1, b: { c: 2, d: 3 } } : { b: { d: 3, c: 2 }, a: 1 }
      await run.call('x', params, () => mark('executed'))
      await run.sleep(30)
    })
    const task = await world.engine.create({ executor: 'work' })
    await world.engine.result(task)
    expect(made).toEqual(['executed'])
  })

  it('a call of an earlier run is the n-th among equals', async () => {
    let count = 0
    const world = await createWorld(async (_task, run) => {
      const results = []
      for (let n = 0; n < (run.number === 1 ? 3 : 4); n++) results.push(await run.call('next', () => ++count))
      await run.ask('Go on?')
      return results
    })
    const task = await world.engine.create({ executor: 'work' })
    await world.eventOf(task.id, 'task.input_required')
    await world.engine.answer(task, true)
    expect(await world.engine.result(task)).toEqual([1, 2, 3, 4])
  })

  it('a call of an earlier run is found only by its key when its params are volatile', async () => {
    const { made, mark } = marks()
    const world = await createWorld(async (_task, run) => {
      await run.call('post', { at: run.number }, () => mark('keyed'), { key: 'first' })
      await run.call('post', { at: 0 }, () => mark('by params'))
      await run.call('post', { at: 0 }, () => mark('other key'), { key: `p:${run.number}`, divergence: 'allow' })
      if (run.number === 1) await run.sleep(30)
    })
    const task = await world.engine.create({ executor: 'work' })
    await world.engine.result(task)
    expect(made).toEqual(['keyed', 'by params', 'other key', 'other key'])
    expect((await world.eventOf(task.id, 'task.diverged')).data).toMatchObject({ call: 'post', entries: ['call post'] })
  })

  it('a call of an earlier run is found when several were in flight and ended in another order than they were made', async () => {
    const gates = new Map(['a', 'b', 'c', 'd', 'e'].map((name) => [name, gate<string>()]))
    const { made, mark } = marks()
    const all = gate()
    const world = await createWorld(async (_task, run) => {
      const names = [...gates.keys()]
      if (run.number === 2) names.reverse()
      const texts = await Promise.all(
        names.map((name) =>
          run.call('read', { name }, () => {
            mark(name)
            if (made.length === 5) all.resolve()
            return (gates.get(name) as { promise: Promise<string> }).promise
          }),
        ),
      )
      await run.ask('Go on?')
      return Object.fromEntries(names.map((name, index) => [name, texts[index]]))
    })
    const task = await world.engine.create({ executor: 'work' })
    await all.promise
    for (const name of ['d', 'a', 'e', 'c', 'b']) gates.get(name)?.resolve(`text of ${name}`)
    await world.eventOf(task.id, 'task.input_required')
    await world.engine.answer(task, true)
    expect(await world.engine.result(task)).toEqual(
      Object.fromEntries([...gates.keys()].map((name) => [name, `text of ${name}`])),
    )
    expect(made).toHaveLength(5)
  })
})

it('two documents that swap their order between two runs keep their own results', async () => {
  const executed: string[] = []
  const world = await createWorld(async (_task, run) => {
    const documents = run.number === 1 ? ['one', 'two'] : ['two', 'one']
    const process = async (name: string) => {
      const text = await run.call('read', { name }, () => executed.push(`read ${name}`) && `text of ${name}`)
      const summary = await run.call('sum', { text }, (p) => executed.push(`sum ${p.text}`) && `sum of ${p.text}`)
      return [name, summary]
    }
    const results = Object.fromEntries(await Promise.all(documents.map(process)))
    await run.ask('Go on?')
    return results
  })
  const task = await world.engine.create({ executor: 'work' })
  await world.eventOf(task.id, 'task.input_required')
  await world.engine.answer(task, true)
  expect(await world.engine.result(task)).toEqual({ one: 'sum of text of one', two: 'sum of text of two' })
  expect(executed).toHaveLength(4)
})

it('entries that a run does not request again are reported as diverged, and nothing fails', async () => {
  const world = await createWorld(async (_task, run) => {
    await run.call('same', () => 1)
    if (run.number === 1) {
      await run.call('once', () => 2)
      await run.sleep(30)
    }
    return 'done'
  })
  const task = await world.engine.create({ executor: 'work' })
  expect(await world.engine.result(task)).toBe('done')
  const event = await world.eventOf(task.id, 'task.diverged')
  expect(event.data.entries).toEqual(['call once', 'sleep sleep'])
})

it('a run that requests all entries again has not diverged', async () => {
  const world = await createWorld(async (_task, run) => {
    await run.call('same', () => 1)
    await run.sleep(30)
    await run.message('assistant', 'hello')
  })
  const task = await world.engine.create({ executor: 'work' })
  await world.engine.result(task)
  const events = []
  for await (const event of world.engine.events({ taskId: task.id, follow: false })) events.push(event.type)
  expect(events).not.toContain('task.diverged')
})

it('questions, waits, sleeps, children and messages are found by the same rule as calls', async () => {
  const world = await createWorld(async (_task, run) => {
    const turn = run.number % 2 === 1
    const child = async (name: string) => run.spawn({ name, executor: 'other' })
    const children = turn ? [await child('a'), await child('b')] : [await child('b'), await child('a')].reverse()
    const messages = []
    for (const text of turn ? ['x', 'y', 'x'] : ['y', 'x', 'x']) messages.push(await run.message('assistant', text))
    await run.wait(children)
    await run.sleep(30)
    const answers = await Promise.all((turn ? ['p', 'q'] : ['q', 'p']).map((question) => run.ask(question)))
    return { ids: children.map((each) => each.id), answers: turn ? answers : answers.reverse() }
  })
  const task = await world.engine.create({ executor: 'work' })
  const asked = await world.eventOf(task.id, 'task.input_required')
  expect(asked.data.run).toBeGreaterThan(1)
  const questions = (await world.engine.get(task))?.questions ?? []
  expect(questions.map((each) => each.question).sort()).toEqual(['p', 'q'])
  for (const { id, question } of questions) await world.engine.answer(task, `re ${question}`, { question: id })
  const result = (await world.engine.result(task)) as { ids: string[]; answers: string[] }
  expect(result.answers).toEqual(['re p', 're q'])
  expect((await world.engine.children(task)).map((each) => each.id).sort()).toEqual([...result.ids].sort())
  expect((await world.engine.messages(task)).map((each) => each.content)).toEqual(['x', 'y', 'x'])
})

it('X-013 the identity of a child leaves out fields at their defaults, so that a new field changes no recorded one', async () => {
  const ledger = ledgerFile()
  const executors = { parent: async (_task: ExecutorTask, run: Run) => (await run.spawn({ name: 'child' })).id }
  const engine = await openEngine({ ledger, executors })
  const task = await engine.create({ executor: 'parent' })
  await engine.result(task)
  await engine.close()
  const reader = await openLedger(ledger)
  const [call] = await reader.read((tx) => tx.call.list(task.id, ['spawn']))
  await reader.close()
  const asStored = {
    name: 'child',
    group: false,
    held: false,
    policy: {},
    team: null,
    agentId: null,
    agentNamed: false,
    after: 0,
  }
  expect(call?.params).toEqual([[asStored]])
})

it('the harness detects a journal that matches by position and gives one document the text of another', async () => {
  const records = ['one', 'two'].map(
    (name, ordinal) =>
      ({
        kind: 'call',
        name: 'read',
        ident: `p:{"name":"${name}"}`,
        ordinal: 0,
        parentId: null,
        attempt: 1,
        seq: ordinal,
        result: name,
      }) as unknown as CallRecord,
  )
  class ByPosition extends RunJournal {
    #next = 0
    override find(): CallRecord | undefined {
      return records[this.#next++]
    }
  }
  const textOf = (journal: RunJournal, name: string) => {
    const ident = `p:${JSON.stringify(fromJson(`{"name":"${name}"}`))}`
    return journal.find('call', 'read', ident, journal.claim('call', 'read', ident))?.result
  }
  const right = new RunJournal(records, [], 1)
  expect([textOf(right, 'two'), textOf(right, 'one')]).toEqual(['two', 'one'])
  const wrong = new ByPosition(records, [], 1)
  expect([textOf(wrong, 'two'), textOf(wrong, 'one')]).not.toEqual(['two', 'one'])
})
