// Many followers of the streams of tasks that emit chunks at intervals.
import { EventEmitter, on } from 'node:events'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { settledHeap } from '../runner/heap.ts'
import { defineRow, type Figures } from '../runner/row.ts'
import { stallOf } from '../runner/stall.ts'
import { latencyFigures, latencyKinds } from './dispatch.ts'

interface Size {
  tasks: number
  followersOfTask: number
  chunks: number
  everyMs: number
}

const separator = '\n'

/** Emits the times of the emissions, which followers compare with theirs. */
async function talk({ chunks, everyMs }: Size, emit: (chunk: string) => void): Promise<void> {
  for (let n = 0; n < chunks; n++) {
    await delay(everyMs)
    emit(`${performance.now()}${separator}`)
  }
}

interface Receiver {
  latencies: number[]
  receive(text: string): void
}

function createReceiver(): Receiver {
  const latencies: number[] = []
  return {
    latencies,
    receive(text) {
      const now = performance.now()
      for (const at of text.split(separator)) if (at !== '') latencies.push(now - Number(at))
    },
  }
}

function figuresOf(latencies: readonly number[], size: Size, heap: number, stall: number): Figures {
  const expected = size.tasks * size.followersOfTask * size.chunks
  if (latencies.length !== expected) throw new Error(`${latencies.length} of ${expected} chunks were received`)
  return { ...latencyFigures(latencies), heap, stall }
}

export const followers = defineRow<Size, Size>({
  name: 'followers',
  title: 'Followers of streams',
  method:
    'Ten tasks emit a chunk every 50 ms, and a hundred followers of each receive it through `engine.stream`. The time is that from ' +
    'sending to receiving a chunk. The floor is an EventEmitter with one `events.on` for each follower, without a ledger.',
  figures: {
    ...latencyKinds,
    heap: { label: 'heap', unit: 'KB a follower', better: 'less' },
    stall: { label: 'longest stall', unit: 'ms', better: 'less' },
  },
  sizes: {
    full: { tasks: 10, followersOfTask: 100, chunks: 100, everyMs: 50 },
    quick: { tasks: 10, followersOfTask: 100, chunks: 40, everyMs: 50 },
    tiny: { tasks: 2, followersOfTask: 3, chunks: 4, everyMs: 2 },
  },
  rounds: { full: 3, quick: 2, tiny: 1 },
  cases: (size) => [{ name: `${(size.tasks * size.followersOfTask).toLocaleString('en')} followers`, given: size }],
  sides: {
    errand: {
      durability: '',
      async measure(size, { errand, folder }) {
        const { createEngine } = await errand()
        const go = Promise.withResolvers<void>()
        const engine = await createEngine({
          ledger: join(folder, 'ledger.db'),
          maxConcurrent: size.tasks,
          executors: {
            async talk(_task, run) {
              await go.promise
              await talk(size, (chunk) => run.emit(chunk))
            },
          },
        })
        const created = await engine.create(Array.from({ length: size.tasks }, () => ({ executor: 'talk' })))
        const before = settledHeap()
        const receiver = createReceiver()
        const ready: Array<Promise<void>> = []
        const ends = created.flatMap(({ id }) =>
          Array.from({ length: size.followersOfTask }, async () => {
            const started = Promise.withResolvers<void>()
            ready.push(started.promise)
            for await (const item of engine.stream(id)) {
              if (item.type === 'state' && item.status === 'working') started.resolve()
              if (item.type === 'content') receiver.receive(item.content)
            }
          }),
        )
        await Promise.all(ready)
        const heap = (settledHeap() - before) / ends.length / 1_024
        const { stall } = await stallOf(() => {
          go.resolve()
          return Promise.all(ends)
        })
        await engine.close()
        return figuresOf(receiver.latencies, size, heap, stall)
      },
    },
    floor: {
      durability: '',
      async measure(size) {
        const emitters = Array.from({ length: size.tasks }, () => new EventEmitter({ captureRejections: false }))
        const before = settledHeap()
        const receiver = createReceiver()
        const ends = emitters.flatMap((emitter) => {
          emitter.setMaxListeners(0)
          return Array.from({ length: size.followersOfTask }, async () => {
            for await (const [chunk] of on(emitter, 'content', { close: ['end'] })) receiver.receive(chunk as string)
          })
        })
        const heap = (settledHeap() - before) / ends.length / 1_024
        const { stall } = await stallOf(async () => {
          await Promise.all(
            emitters.map(async (emitter) => {
              await talk(size, (chunk) => emitter.emit('content', chunk))
              emitter.emit('end')
            }),
          )
          await Promise.all(ends)
        })
        return figuresOf(receiver.latencies, size, heap, stall)
      },
    },
  },
})
