// The actors of a machine that are in memory.
import { expect, it } from 'vitest'
import { fromPromise } from 'xstate'
import { ErrandError } from '../../src/core/errors.ts'
import type { Run } from '../../src/entities/executor.ts'
import { type ActorMessage, LiveActors } from '../../src/user-machines/live-actors.ts'

it('a call that the end of its run has rejected is not in flight any more, and is no end of its actor', async () => {
  const calling = Promise.withResolvers<never>()
  const messages: ActorMessage[] = []
  const live = new LiveActors(
    { call: () => calling.promise } as unknown as Run,
    () => undefined,
    (message) => messages.push(message),
  )
  live.startPromise(
    'charge',
    { src: 'charge', gen: 0 },
    fromPromise(async () => 'receipt'),
  )
  expect(live.isCalling).toBe(true)
  calling.reject(new ErrandError('RUN_ENDED', 'The run has ended.', {}))
  await calling.promise.catch(() => {})
  expect(live.isCalling).toBe(false)
  await live.settled()
  expect(messages).toEqual([])
})
