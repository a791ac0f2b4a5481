// An agent whose process ends in the middle of its work, by death or by closing, and the next engine on the same
// ledger.
import { describe, expect, it, onTestFinished } from 'vitest'
import type { AgentOptions } from '../../src/agents/loop/agent.ts'
import { agent } from '../../src/agents/loop/agent.ts'
import { createScriptedModel } from '../../src/agents/models/scripted-model.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { SimulatedClock } from '../../src/testing/simulated-clock.ts'
import { deferred, reached, turns } from '../engine/world.ts'
import { createWorld, type World } from '../runs/world.ts'
import { announced, callsOf, echo, finish, gatedTool, partsModel, said, text } from './world.ts'

/** Engines one after the other on one ledger, each with its own model; the agent is `work`. */
async function house(abilities: object[] = []) {
  const ledger = await openLedger(':memory:')
  onTestFinished(() => ledger.close())
  return {
    open: (model: AgentOptions['model'], options: object = {}): Promise<World> =>
      createWorld(
        agent({ ...(model === undefined ? {} : { model }), maxIterations: 4 }),
        { abilities: abilities as never, ...options },
        ledger,
      ),
  }
}

const create = (world: World, goal = 'Work') => world.engine.create({ executor: 'work', goal })
const again = (mark: string) => ({ tools: [{ name: 'test_echo', input: { text: mark } }] })

describe('an agent whose process dies', () => {
  it('S0-026 an agent whose process dies in the middle of a stream leaves nothing of the partial answer, and the next process calls the model again', async () => {
    const { open } = await house()
    const first = await open(partsModel([text('I was say'), deferred().promise, finish()]))
    const task = await create(first)
    for await (const item of first.engine.stream(task)) if (item.type === 'content') break
    first.die()
    const model = createScriptedModel([{ text: 'Said.' }])
    const { engine } = await open(model)
    expect(await engine.result(task)).toBe('Said.')
    expect(await said(engine, task)).toEqual([
      'system: You are a helpful AI assistant.',
      'user: Work',
      'assistant: Said.',
    ])
    expect(model.prompts).toHaveLength(1)
  })

  it('S0-100 S0-101 S0-103 Q-12 an agent whose process dies in the middle of a tool has one failed call, which is not repeated, and the model reads that', async () => {
    const slow = gatedTool('test:slow')
    const { open } = await house([slow.ability])
    const script = [{ tools: [{ name: 'test_slow' }] }, { text: 'I know.' }]
    const first = await open(createScriptedModel(script))
    const task = await create(first)
    await slow.began(0)
    first.die()
    const held = deferred()
    const model = createScriptedModel(async ({ turn }) => {
      await held.promise
      return script[turn] as (typeof script)[number]
    })
    const second = await open(model)
    await second.eventOf(task.id, 'call.failed')
    expect(await callsOf(second.engine, task)).toEqual(['test:slow failed CALL_INTERRUPTED'])
    expect((await second.engine.calls(task))[0]?.error?.message).toBe('Process crashed during execution')
    // It dies too, before the model has answered: the next recovery finds no more calls to fail.
    second.die()
    held.resolve()
    const { engine } = await open(model)
    expect(await engine.result(task)).toBe('I know.')
    expect(slow.calls).toHaveLength(1)
    expect(model.prompts.at(-1)?.last).toBe('Error: Process crashed during execution')
    expect(await announced(engine, task)).toEqual([
      '🔧 Calling test:slow...',
      '✗ test:slow failed due to process crash',
    ])
  })

  it('S0-076 an agent whose process dies gets no additional iterations by a restart', async () => {
    const { open } = await house([echo])
    const stuck = deferred()
    const first = await open(
      createScriptedModel(async ({ turn }) => {
        if (turn === 2) await stuck.promise
        return again(`${turn}`)
      }),
    )
    const task = await create(first)
    for await (const event of first.engine.events({ taskId: task.id })) {
      if (event.type === 'call.completed' && event.data.result === '1') break
    }
    first.die()
    const model = createScriptedModel(({ turn }) => again(`${turn}`))
    const { engine } = await open(model)
    expect(await engine.settled(task)).toMatchObject({ status: 'failed', error: { code: 'MAX_ITERATIONS' } })
    expect(model.prompts.map(({ turn }) => turn)).toEqual([2, 3])
    expect((await engine.calls(task)).map(({ result }) => result)).toEqual(['0', '1', '2', '3'])
    expect((await engine.messages(task)).filter(({ step }) => step !== null)).toHaveLength(4)
  })

  it('an agent whose process dies during the delay before a retry leaves the timer: the next process retries on time and counts the try', async () => {
    const clock = new SimulatedClock()
    const { open } = await house()
    const limited = { error: { status: 429, message: 'Slow down', retryAfterMs: 60_000 } }
    const first = await open(
      createScriptedModel(() => limited),
      { clock },
    )
    const task = await create(first)
    await reached(first.engine, task, 'waiting')
    first.die()
    const model = createScriptedModel(() => (model.prompts.length === 1 ? limited : { text: 'Now.' }))
    const second = await open(model, { clock })
    await turns(20)
    expect(await second.engine.get(task.id)).toMatchObject({ status: 'waiting' })
    expect(model.prompts).toHaveLength(0)
    clock.increment(60_001)
    await second.eventOf(task.id, 'model.failed', ({ data }) => data['try'] === 2)
    await reached(second.engine, task, 'waiting')
    await turns(20)
    clock.increment(60_001)
    expect(await second.engine.result(task)).toBe('Now.')
    expect(model.prompts).toHaveLength(2)
  })

  it('S0-105 an agent whose process dies leaves suspended agents as they are', async () => {
    const { open } = await house()
    const script = createScriptedModel([
      { when: { goal: 'ask' }, tools: [{ name: 'ask_user', input: { question: 'Well?' } }] },
      { when: { goal: 'ask' }, text: 'Answered.' },
      { when: { goal: 'wait' }, tools: [{ name: 'wait_for_tasks' }] },
      { when: { goal: 'wait' }, text: 'Waited.' },
    ])
    const first = await open(script)
    const asks = await create(first, 'ask')
    const waits = await first.engine.create({ executor: 'work', goal: 'wait', autoStart: false })
    const child = await first.engine.create({ name: 'child', parentId: waits.id })
    await first.engine.start(waits)
    await reached(first.engine, asks, 'input_required')
    await reached(first.engine, waits, 'waiting')
    first.die()
    const second = await open(script)
    await turns(20)
    expect(await second.engine.get(asks.id)).toMatchObject({ status: 'input_required', run: 1 })
    expect(await second.engine.get(waits.id)).toMatchObject({ status: 'waiting', run: 1 })
    await second.engine.answer(asks.id, 'so')
    await second.engine.start(child.id)
    await second.engine.complete(child.id)
    expect(await second.engine.result(asks.id)).toBe('Answered.')
    expect(await second.engine.result(waits.id)).toBe('Waited.')
    expect(script.prompts).toHaveLength(4)
  })

  it('S0-102 an agent whose process dies leaves ended agents alone', async () => {
    const { open } = await house()
    const first = await open(createScriptedModel([{ text: 'Done' }]))
    const task = await create(first)
    await first.engine.result(task)
    const before = await first.engine.messages(task)
    first.die()
    const model = createScriptedModel(() => ({ text: 'Again?' }))
    const { engine } = await open(model)
    await turns(20)
    expect(await engine.messages(task.id)).toEqual(before)
    expect(await engine.runs(task.id)).toHaveLength(1)
    expect(model.prompts).toEqual([])
  })
})

describe('two engines on one ledger', () => {
  it("S0-109 two engines on one ledger leave each other's agents alone: a starting engine fails no call in flight of another", async () => {
    const slow = gatedTool('test:slow')
    const { open } = await house([slow.ability])
    const script = [{ tools: [{ name: 'test_slow' }] }, { text: 'Done' }]
    const first = await open(createScriptedModel(script))
    const task = await create(first)
    const call = await slow.began(0)
    const other = createScriptedModel(() => ({ text: 'Mine now' }))
    const second = await open(other)
    await turns(20)
    expect(await callsOf(second.engine, task)).toEqual(['test:slow in_progress null'])
    call.end('slept')
    expect(await second.engine.result(task)).toBe('Done')
    expect(other.prompts).toEqual([])
    expect(slow.calls).toHaveLength(1)
  })

  it('two engines on one ledger answer a message that was sent through the other engine', async () => {
    const { open } = await house()
    const held = deferred()
    const first = await open(
      createScriptedModel(async ({ last, turn }) => {
        if (turn === 0) await held.promise
        return { text: `re: ${last}` }
      }),
    )
    const task = await create(first, 'one')
    await reached(first.engine, task, 'working')
    const second = await open(undefined, { work: false })
    await second.engine.send(task.id, 'two')
    held.resolve()
    expect(await second.engine.result(task)).toBe('re: two')
  })
})

describe('closing the engine of an agent', () => {
  it('S0-107 C-13 closing the engine of an agent waits for the tool in flight, and the next engine continues from its result', async () => {
    const slow = gatedTool('test:slow')
    const { open } = await house([slow.ability])
    const script = [{ tools: [{ name: 'test_slow' }] }, { text: 'Done' }]
    const first = await open(createScriptedModel(script), { shutdownTimeoutMs: 5_000 })
    const task = await create(first)
    const call = await slow.began(0)
    const closed = first.engine.close()
    call.end('slept')
    await closed
    const model = createScriptedModel(script)
    const { engine } = await open(model)
    expect(await engine.result(task)).toBe('Done')
    expect(await callsOf(engine, task)).toEqual(['test:slow completed "slept"'])
    expect(model.prompts.map(({ last }) => last)).toEqual(['slept'])
    expect(slow.calls).toHaveLength(1)
  })

  it('S0-107 C-13 closing the engine of an agent waits for the step of the model, which is stored and not repeated', async () => {
    const { open } = await house()
    const asked = deferred()
    const answered = deferred()
    const scripted = createScriptedModel(async () => {
      asked.resolve()
      await answered.promise
      return { text: 'Done' }
    })
    const first = await open(scripted, { shutdownTimeoutMs: 60_000 })
    const task = await create(first)
    await asked.promise
    const closed = first.engine.close()
    answered.resolve()
    await closed
    const model = createScriptedModel([{ text: 'Once more' }])
    const { engine } = await open(model)
    expect(await engine.result(task)).toBe('Done')
    expect(model.prompts).toEqual([])
  })

  it('S0-107 closing the engine of an agent releases a tool that takes longer than shutdownTimeoutMs, and the model reads that', async () => {
    const slow = gatedTool('test:slow')
    const { open } = await house([slow.ability])
    const script = [{ tools: [{ name: 'test_slow' }] }, { text: 'Done' }]
    const first = await open(createScriptedModel(script), { shutdownTimeoutMs: 5 })
    const task = await create(first)
    const { signal } = await slow.began(0)
    await first.engine.close()
    expect(signal.aborted).toBe(true)
    const model = createScriptedModel(script)
    const { engine } = await open(model)
    expect(await engine.result(task)).toBe('Done')
    expect(model.prompts[0]?.last).toMatch(/^Error: .*may have happened/)
    expect(slow.calls).toHaveLength(1)
  })
})
