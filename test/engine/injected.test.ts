// Time, ids, randomness and errors are injected. With a clock that stands still and sequential ids, two runs of the
// same agent leave the same ledger, to the last byte.
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { createScriptedModel, type ScriptFunction } from '../../src/agents/models/scripted-model.ts'
import { defineAbility } from '../../src/bus/ability.ts'
import { createEngine } from '../../src/engine/create-engine.ts'
import type { Engine, EngineOptions } from '../../src/engine/engine-api.ts'
import type { EventType } from '../../src/entities/event.ts'
import { createSequentialIds } from '../../src/testing/sequential-ids.ts'
import { SimulatedClock } from '../../src/testing/simulated-clock.ts'
import { openEngine } from './world.ts'

const startedAt = Date.UTC(2031, 4, 1)

/** Reports the delays between the tries of a model: they are drawn with the injected randomness. */
class RestingClock extends SimulatedClock {
  readonly paused = Promise.withResolvers<number>()

  override setTimeout(fn: (...args: unknown[]) => void, timeoutMs: number): unknown {
    const timer = super.setTimeout(fn, timeoutMs)
    if (timeoutMs > 2_000 && timeoutMs < 4_000) this.paused.resolve(timeoutMs)
    return timer
  }
}

/** One rate limit, then two tools at once, a question, a subtask that is waited for, and an answer. */
function scenario(): ScriptFunction {
  let asked = 0
  return ({ goal, turn }) => {
    asked += 1
    if (goal === 'Count the words') return { text: 'Seven.' }
    if (asked === 1) return { error: { status: 503 } }
    const turns = [
      {
        text: 'Looking.',
        tools: [
          { name: 'test_add', input: { a: 1 } },
          { name: 'test_add', input: { a: 2 } },
        ],
      },
      { tools: [{ name: 'ask_user', input: { question: 'Which of them?' } }] },
      { tools: [{ name: 'task_create', input: { goal: 'Count the words' } }] },
      { tools: [{ name: 'wait_for_tasks', input: {} }] },
      { text: 'The second.' },
    ]
    return turns[turn] ?? { text: 'Nothing more.' }
  }
}

const add = defineAbility({
  id: 'test:add',
  description: 'Adds one.',
  input: z.object({ a: z.number() }),
  output: z.object({ sum: z.number() }),
  handle: ({ a }) => ({ sum: a + 1 }),
})

function eventOf(engine: Engine, type: EventType): Promise<void> {
  return new Promise((resolve) => {
    const stop = engine.subscribe(type, () => {
      stop()
      resolve()
    })
  })
}

/** Plays the scenario and returns all that the ledger then holds. */
async function playStory(options: Pick<EngineOptions, 'ids'> = { ids: createSequentialIds(7) }) {
  const clock = new RestingClock(startedAt)
  const engine = (await openEngine({
    clock,
    ...options,
    model: createScriptedModel(scenario()),
    abilities: [add],
    // A delay that differs from every other timer of the engine.
    modelRetry: { maxAttempts: 2, backoffMs: 4_000, jitter: 0.5 },
  })) as Engine
  const asks = eventOf(engine, 'task.input_required')
  const task = await engine.create({ goal: 'Say which' })
  const restMs = await clock.paused.promise
  clock.increment(restMs)
  await asks
  clock.increment(1_000)
  await engine.answer(task, 'the larger')
  await engine.result(task)
  await engine.idle()
  const events = []
  for await (const event of engine.events({ follow: false })) events.push(event)
  const { tasks } = await engine.list()
  const rows = []
  for (const { id } of tasks.toSorted((a, b) => a.seq - b.seq)) {
    rows.push([await engine.get(id), await engine.calls(id), await engine.messages(id), await engine.runs(id)])
  }
  return { restMs, events, rows, end: clock.now() }
}

describe('an engine with an injected clock, ids and onError', () => {
  it('X-034 an engine with an injected clock, ids and onError writes the same ledger in two runs of one agent, event by event', async () => {
    const [first, second] = [await playStory(), await playStory()]
    expect(JSON.stringify(second)).toBe(JSON.stringify(first))
    expect(first.events.map(({ type }) => type)).toEqual(expect.arrayContaining(['model.failed', 'task.completed']))
    expect(first.events.length).toBeGreaterThan(20)
    expect(first.rows).toHaveLength(2)
    expect(JSON.stringify(first)).toContain('"call-')
  })

  it('X-034 an engine with an injected clock, ids and onError takes all times from the injected clock', async () => {
    const { events, restMs, end } = await playStory()
    const stamps = new Set(events.map(({ at }) => at))
    expect(end).toBe(startedAt + restMs + 1_000)
    expect([...stamps]).toEqual([startedAt, startedAt + restMs, end])
  })

  it('X-034 an engine with an injected clock, ids and onError takes all randomness from the injected ids: other ids give another log, another seed another delay', async () => {
    const plain = await playStory()
    const seeded = await playStory({ ids: createSequentialIds(8) })
    const random = await playStory({})
    expect(seeded.restMs).not.toBe(plain.restMs)
    expect(JSON.stringify(random.events)).not.toBe(JSON.stringify(plain.events))
    expect(random.events.map(({ type }) => type)).toEqual(plain.events.map(({ type }) => type))
  })

  it('X-034 an engine with an injected clock, ids and onError passes errors without a caller to onError, and prints nothing', async () => {
    const printed = vi.spyOn(console, 'error').mockImplementation(() => {})
    onTestFinished(() => printed.mockRestore())
    const reported: unknown[] = []
    const engine = await createEngine({ onError: (error) => reported.push(error) })
    const failure = new Error('the subscriber is at fault')
    engine.subscribe('*', () => {
      throw failure
    })
    await engine.create({ name: 'reported' })
    await engine.close()
    expect(reported).toEqual([failure])
    expect(printed).not.toHaveBeenCalled()
  })
})
