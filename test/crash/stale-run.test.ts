// A run whose engine was taken for dead, while a later run of the same task is live: it has not noticed, and whatever it begins is refused by the
// ledger.
import { expect, it } from 'vitest'
import type { ExecutorTask, Run } from '../../src/entities/executor.ts'
import { delegateLedger } from '../../src/ledger/delegate-ledger.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { createOne, createPlace, openEngine } from './child.ts'

let effects = 0
const beginnings: Readonly<Record<string, (run: Run) => Promise<unknown>>> = {
  'a call': (run) => run.call('late', () => ++effects),
  'a message': (run) => run.message('user', 'late'),
  'a child': (run) => run.spawn({ name: 'late' }),
  'a question': (run) => run.ask('Late?'),
  'a drawn value': (run) => run.uuid(),
}

it.each(Object.entries(beginnings))(
  '%s that a stale run begins is refused, and leaves nothing',
  async (_what, begin) => {
    effects = 0
    const place = createPlace()
    const inner = await openLedger(place.ledger)
    const instances: string[] = []
    // The first engine is not notified of the changes of others.
    const ledger = delegateLedger(inner, {
      async register(id) {
        instances.push(id)
        await inner.register(id)
      },
      observe: (observer, options) =>
        inner.observe({ committed: (events) => observer.committed(events), changed() {}, failed() {} }, options),
    })
    const [inside, wake, woken] = [
      Promise.withResolvers<void>(),
      Promise.withResolvers<void>(),
      Promise.withResolvers<unknown>(),
    ]
    const stale = async (_task: ExecutorTask, run: Run) => {
      inside.resolve()
      await wake.promise
      woken.resolve(
        await begin(run).then(
          () => 'accepted',
          ({ code }: { code?: string }) => code,
        ),
      )
    }
    const first = await openEngine(place, {
      ledger,
      shutdownTimeoutMs: 50,
      onError() {},
      executors: { held: stale } as never,
    })
    const task = await createOne(first, { executor: 'held', key: 'held', name: 'held' })
    await inside.promise
    for (const id of instances) inner.unregister(id, { asDead: true })
    const live = async () => {
      wake.resolve()
      await woken.promise
      return 'second'
    }
    const second = await openEngine(place, { executors: { held: live } as never })
    expect(await woken.promise).toBe('RUN_ENDED')
    await second.settled(task)
    expect(effects).toBe(0)
    expect(await second.calls(task)).toEqual([])
    expect((await second.messages(task)).filter(({ content }) => content === 'late')).toEqual([])
    expect(await second.children(task)).toEqual([])
    expect((await second.list({})).total).toBe(1)
  },
)
