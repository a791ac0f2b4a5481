// A purge deletes mail that has been read.
import { expect, it } from 'vitest'
import { openTeam } from './world.ts'

it('a purge deletes mail read before its time, and keeps unread mail and open requests', async () => {
  const { engine, bus, clock } = await openTeam()
  await bus.call('board:send', { as: 'ada', to: 'bob', body: 'read' })
  const { requestId: open } = await bus.call('board:request', { as: 'ada', to: 'bob', topic: 'shutdown', body: 'now?' })
  const { requestId: done } = await bus.call('board:request', {
    as: 'ada',
    to: 'bob',
    topic: 'shutdown',
    body: 'then?',
  })
  expect((await bus.call('board:inbox', { as: 'bob' })).mail).toHaveLength(3)
  await bus.call('board:respond', { as: 'bob', requestId: done, approve: true })
  await bus.call('board:send', { as: 'ada', to: 'bob', body: 'unread' })
  clock.increment(1_000)
  await engine.purge({ before: clock.now() })

  const { requests } = await bus.call('board:requests', { as: 'bob' })
  expect(requests.map(({ requestId }) => requestId)).toEqual([open])
  await bus.call('board:respond', { as: 'bob', requestId: open, approve: false })
  expect((await bus.call('board:inbox', { as: 'bob' })).mail.map(({ body }) => body)).toEqual(['unread'])
  // The unread answers.
  expect((await bus.call('board:inbox', { as: 'ada' })).mail.map(({ requestId }) => requestId)).toEqual([done, open])
})
