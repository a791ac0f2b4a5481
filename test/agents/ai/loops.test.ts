// The loops of the real AI SDK inside a task: what they did before a pause or a crash is not repeated, and the
// conversation stays the same.
import { generateText, isStepCount, streamText } from 'ai'
import { describe, expect, it } from 'vitest'
import { durable } from '../../../src/agents/ai/durable.ts'
import type { ExecutorTask, Run } from '../../../src/entities/executor.ts'
import { deferred, ledgerFile, openEngine, reached } from '../../engine/world.ts'
import { callOf, modelOf, notingTool, promptsOf, textOf } from './world.ts'

const twoCities = [
  [callOf('call-1', 'weather', { city: 'Oslo' }), callOf('call-2', 'weather', { city: 'Rome' })],
  [callOf('call-3', 'weather', { city: 'Oslo' })],
  textOf('It is sunny everywhere.'),
]

type Ask = (model: ReturnType<typeof modelOf>, tools: Record<string, ReturnType<typeof notingTool>>) => Promise<string>

const loops: Record<string, (run: Run) => Ask> = {
  generateText: (run) => async (model, tools) => {
    const { text } = await generateText({
      model: durable(run, model),
      tools: durable(run, tools),
      prompt: 'Where is the sun?',
      stopWhen: isStepCount(10),
    })
    return text
  },
  streamText: (run) => async (model, tools) => {
    const { text } = streamText({
      model: durable(run, model),
      tools: durable(run, tools),
      prompt: 'Where is the sun?',
      stopWhen: isStepCount(10),
      onError: () => {},
    })
    return text
  },
}

describe.each(Object.entries(loops))('a durable %s loop', (_name, loopOf) => {
  const stepsOf = (model: ReturnType<typeof modelOf>) => model.doGenerateCalls.length + model.doStreamCalls.length
  const shown = (model: ReturnType<typeof modelOf>) => promptsOf([...model.doGenerateCalls, ...model.doStreamCalls])

  it('a durable loop answers like a loop without a journal, and lists every step and every tool call', async () => {
    const [model, noted] = [modelOf(twoCities), [] as string[]]
    const chat = (_task: ExecutorTask, run: Run) => loopOf(run)(model, { weather: notingTool(noted) })
    const engine = await openEngine({ executors: { chat } })
    const task = await engine.create({ executor: 'chat' })
    expect(await engine.result(task)).toBe('It is sunny everywhere.')
    expect(noted).toEqual(['Oslo', 'Rome', 'Oslo'])
    const calls = await engine.calls(task)
    expect(calls.map((call) => call.name).sort()).toEqual(
      ['model mock-1', 'model mock-1', 'model mock-1', 'weather', 'weather', 'weather'].sort(),
    )
    expect(calls.every((call) => call.status === 'completed')).toBe(true)
  })

  it('a durable loop continues after a pause: no step and no tool twice, the same conversation', async () => {
    const [model, noted] = [modelOf(twoCities), [] as string[]]
    const [inTool, goOn] = [deferred(), deferred()]
    const chat = (_task: ExecutorTask, run: Run) =>
      loopOf(run)(model, {
        weather: notingTool(noted, async (city) => {
          if (noted.length === 3) {
            inTool.resolve()
            await goOn.promise
          }
          return `Sunny in ${city}`
        }),
      })
    const engine = await openEngine({ executors: { chat }, abortGraceMs: 20_000 })
    const task = await engine.create({ executor: 'chat' })
    await inTool.promise
    await engine.pause(task)
    goOn.resolve()
    await engine.resume(task)
    expect(await engine.result(task)).toBe('It is sunny everywhere.')
    expect(noted).toEqual(['Oslo', 'Rome', 'Oslo'])
    expect(stepsOf(model)).toBe(3)
    const undisturbed = modelOf(twoCities)
    const plain = await openEngine({
      executors: { chat: (_task: ExecutorTask, run: Run) => loopOf(run)(undisturbed, { weather: notingTool([]) }) },
    })
    await plain.result(await plain.create({ executor: 'chat' }))
    expect(shown(model)).toEqual(shown(undisturbed))
  })

  it('a durable loop continues in another engine after the first was closed between two steps', async () => {
    const ledger = ledgerFile()
    const [first, second, noted] = [modelOf(twoCities), modelOf(twoCities), [] as string[]]
    const closing = deferred()
    const chatOf = (model: ReturnType<typeof modelOf>, stops: boolean) => async (_task: ExecutorTask, run: Run) => {
      const { signal } = run
      const weather = notingTool(noted, (city) => {
        if (stops && noted.length === 2) closing.resolve()
        return `Sunny in ${city}`
      })
      const answer = loopOf(run)(model, { weather })
      return stops
        ? Promise.race([
            answer,
            new Promise<never>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
          ])
        : answer
    }
    const one = await openEngine({ ledger, executors: { chat: chatOf(first, true) } })
    const task = await one.create({ executor: 'chat' })
    await closing.promise
    await one.close()
    const other = await openEngine({ ledger, executors: { chat: chatOf(second, false) } })
    expect(await other.result(task.id)).toBe('It is sunny everywhere.')
    expect(noted).toEqual(['Oslo', 'Rome', 'Oslo'])
    expect(stepsOf(first) + stepsOf(second)).toBe(3)
    expect(stepsOf(second)).toBeGreaterThan(0)
  })

  it('a durable loop gives a new attempt what the last one completed', async () => {
    const [model, noted] = [modelOf(twoCities), [] as string[]]
    const chat = async (_task: ExecutorTask, run: Run) => {
      const text = await loopOf(run)(model, { weather: notingTool(noted) })
      if (run.attempt === 1) throw new Error('The answer was lost on the way.')
      return text
    }
    const engine = await openEngine({ executors: { chat } })
    const task = await engine.create({ executor: 'chat', retry: { maxAttempts: 2, backoffMs: 0 } })
    expect(await engine.result(task)).toBe('It is sunny everywhere.')
    expect((await engine.get(task))?.attempt).toBe(2)
    expect(stepsOf(model)).toBe(3)
    expect(noted).toHaveLength(3)
  })

  it('a durable loop passes the error of a failed tool to the model, and the same error in a repeated run', async () => {
    const model = modelOf([
      [callOf('call-1', 'weather', { city: 'Atlantis' })],
      [callOf('call-2', 'weather', { city: 'Rome' })],
      textOf('Atlantis is not on the map.'),
    ])
    const noted: string[] = []
    const [inTool, goOn] = [deferred(), deferred()]
    const chat = (_task: ExecutorTask, run: Run) =>
      loopOf(run)(model, {
        weather: notingTool(noted, async (city) => {
          if (city === 'Atlantis') throw new RangeError('It has sunk.')
          inTool.resolve()
          await goOn.promise
          return `Sunny in ${city}`
        }),
      })
    const engine = await openEngine({ executors: { chat }, abortGraceMs: 20_000 })
    const task = await engine.create({ executor: 'chat' })
    await inTool.promise
    await engine.pause(task)
    goOn.resolve()
    await engine.resume(task)
    expect(await engine.result(task)).toBe('Atlantis is not on the map.')
    expect(noted).toEqual(['Atlantis', 'Rome'])
    expect(stepsOf(model)).toBe(3)
    expect(shown(model).at(-1)).toContain('RangeError: It has sunk.')
  })

  it('a durable loop passes CALL_INTERRUPTED to the model for a tool that a pause interrupted, and the model decides', async () => {
    const model = modelOf([[callOf('call-1', 'weather', { city: 'Oslo' })], textOf('I could not find out.')])
    const inTool = deferred()
    const chat = (_task: ExecutorTask, run: Run) =>
      loopOf(run)(model, {
        weather: notingTool([], () => {
          inTool.resolve()
          return new Promise(() => {})
        }),
      })
    const engine = await openEngine({ executors: { chat }, abortGraceMs: 10 })
    const task = await engine.create({ executor: 'chat' })
    await inTool.promise
    await engine.pause(task)
    await engine.resume(task)
    await reached(engine, task, 'completed')
    expect(await engine.result(task)).toBe('I could not find out.')
    expect(shown(model).at(-1)).toContain('was interrupted and may have happened')
  })
})
