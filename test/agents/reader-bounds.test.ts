// What a reader of a stream costs the engine: a bounded number of pieces when it is slow, and nothing once it has left.
import { describe, expect, it } from 'vitest'
import type { Feed } from '../../src/actors/feed.ts'
import { LiveOutput, streamTask } from '../../src/actors/task-stream.ts'
import type { StreamItem } from '../../src/entities/views.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { ledgerFile, openEngine, puppet } from '../engine/world.ts'

const said = 5_000
/** A thousand pieces kept for a reader, and as many on their way to it. */
const maxKept = 2_000

describe('a slow reader of a task stream', () => {
  it('S1-020 a slow reader of a task stream gets a bounded number of live pieces, and the whole text when it is stored', async () => {
    const hands = puppet()
    const engine = await openEngine({ executors: { work: hands.executor } })
    const task = await engine.create({ executor: 'work', goal: 'Talk' })
    const { run, end } = await hands.started(0)
    const stream = engine.stream(task)
    while ((await stream.next()).value?.type !== 'state');
    const allSaid = Promise.withResolvers<void>()
    const hold = Promise.withResolvers<void>()
    async function* words() {
      for (let word = 0; word < said; word++) yield `${word} `
      allSaid.resolve()
      await hold.promise
    }
    // It waits for more, and does not read again before everything is written.
    const waiting = stream.next()
    const message = run.message('assistant', words())
    const first = (await waiting).value as StreamItem
    await allSaid.promise
    const pieces: StreamItem[] = [first]
    while (pieces.length < maxKept / 2) pieces.push((await stream.next()).value as StreamItem)
    expect(new Set(pieces.map(({ type }) => type))).toEqual(new Set(['content']))
    hold.resolve()
    await message
    end.resolve(null)
    const rest: StreamItem[] = []
    for await (const item of stream) rest.push(item)
    expect(pieces.length + rest.filter(({ type }) => type === 'content').length).toBeLessThanOrEqual(maxKept)
    const whole = rest.find((item) => item.type === 'message')
    expect(whole).toMatchObject({ content: Array.from({ length: said }, (_, word) => `${word} `).join('') })
    expect(rest.at(-1)).toMatchObject({ type: 'end', status: 'completed' })
  })
})

describe('a reader that leaves a task stream', () => {
  /** The stream of an open task, and the number of its listeners. */
  async function setup() {
    const path = ledgerFile()
    const engine = await openEngine({ ledger: path })
    const task = await engine.create({ name: 'open' })
    const ledger = await openLedger(path)
    let held = 0
    const hold = () => {
      held++
      return () => void held--
    }
    const output = new LiveOutput()
    const listening = output.listen.bind(output)
    output.listen = (taskId, listener) => {
      const [stop, release] = [listening(taskId, listener), hold()]
      return () => {
        stop()
        release()
      }
    }
    const feed = { cursor: 0, stopped: false, listenTo: hold, onStop: hold } as unknown as Feed
    const signal = countedSignal()
    const open = (taskId = task.id) => streamTask(ledger, feed, output, taskId, { after: 0, signal: signal.signal })
    return { ledger, open, held: () => held, signal }
  }

  function countedSignal() {
    const controller = new AbortController()
    const { signal } = controller
    let listeners = 0
    const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)]
    signal.addEventListener = (...given: Parameters<typeof add>) => {
      listeners++
      add(...given)
    }
    signal.removeEventListener = (...given: Parameters<typeof remove>) => {
      listeners--
      remove(...given)
    }
    return { controller, signal, listeners: () => listeners }
  }

  it('S1-020 a reader that leaves a task stream leaves no listener behind, however it left', async () => {
    const { ledger, open, held, signal } = await setup()
    const left = open()
    await left.next()
    expect([held(), signal.listeners()]).toEqual([3, 1])
    await left.return()
    expect([held(), signal.listeners()]).toEqual([0, 0])

    const thrown = open()
    await thrown.next()
    await expect(thrown.throw(new Error('the reader fell over'))).rejects.toThrow('the reader fell over')
    expect([held(), signal.listeners()]).toEqual([0, 0])

    const waiting = open()
    await waiting.next()
    const pending = waiting.next()
    expect(held()).toBe(3)
    signal.controller.abort()
    expect((await pending).done).toBe(true)
    expect([held(), signal.listeners()]).toEqual([0, 0])
    await ledger.close()
  })

  it('S1-022 a reader that leaves a task stream leaves no listener behind when there was nothing to read', async () => {
    const { ledger, open, held, signal } = await setup()
    await expect(open('task-unknown').next()).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect([held(), signal.listeners()]).toEqual([0, 0])
    await ledger.close()
  })
})
