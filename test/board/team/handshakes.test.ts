// Handshakes: a request, and its one answer, under one id.
import { describe, expect, it } from 'vitest'
import { ledgerFile, openEngine, refusalOf } from '../../engine/world.ts'
import { openTeam } from './world.ts'

describe('A request', () => {
  it.each([
    ['shutdown', true, 'approved'],
    ['plan_approval', false, 'rejected'],
  ] as const)(
    'S4-063 a request of %s answered with %s keeps its id and is %s for both sides',
    async (topic, approve, verdict) => {
      const { bus, clock } = await openTeam()
      const sentAt = clock.now()
      const { requestId } = await bus.call('board:request', { as: 'lead', to: 'ada', topic, body: 'please' })
      const asked = { requestId, from: 'lead', to: 'ada', topic, body: 'please', sentAt }
      for (const as of ['lead', 'ada']) {
        const { requests } = await bus.call('board:requests', { as })
        expect(requests).toEqual([{ ...asked, verdict: 'pending' }])
      }
      expect((await bus.call('board:inbox', { as: 'ada' })).mail).toMatchObject([
        { kind: 'request', from: 'lead', topic, body: 'please', requestId, verdict: 'pending' },
      ])

      const answer = await bus.call('board:respond', { as: 'ada', requestId, approve, body: 'because' })
      expect(answer).toEqual({ request: { ...asked, verdict } })
      expect((await bus.call('board:inbox', { as: 'lead' })).mail).toMatchObject([
        { kind: 'response', from: 'ada', topic, body: 'because', requestId, verdict },
      ])
      for (const as of ['lead', 'ada']) {
        expect((await bus.call('board:requests', { as })).requests).toEqual([{ ...asked, verdict }])
      }
    },
  )

  it('S4-063 a second answer to a request is refused with the first and changes nothing', async () => {
    const { bus } = await openTeam()
    const { requestId } = await bus.call('board:request', { as: 'lead', to: 'ada', topic: 'shutdown' })
    await bus.call('board:respond', { as: 'ada', requestId, approve: false })
    const again = await refusalOf(
      bus.call('board:respond', { as: 'ada', requestId, approve: true }),
      'INVALID_TRANSITION',
    )
    expect(again.message).toContain('it was rejected')
    expect(again.details).toMatchObject({ requestId, from: 'rejected' })
    expect((await bus.call('board:inbox', { as: 'lead' })).mail).toHaveLength(1)
    expect((await bus.call('board:requests', { as: 'lead' })).requests).toMatchObject([{ verdict: 'rejected' }])
  })

  it('S4-063 a request can be answered only by its recipient, and an unknown one is not found', async () => {
    const { bus } = await openTeam()
    const { requestId } = await bus.call('board:request', { as: 'lead', to: 'ada', topic: 'shutdown' })
    for (const as of ['lead', 'bob']) {
      const refusal = await refusalOf(bus.call('board:respond', { as, requestId, approve: true }), 'NOT_OWNER')
      expect(refusal.message).toContain('is for ada')
    }
    await refusalOf(bus.call('board:respond', { as: 'ada', requestId: 'request-none', approve: true }), 'NOT_FOUND')
    await refusalOf(bus.call('board:respond', { requestId, approve: true }), 'INVALID_INPUT')
    expect((await bus.call('board:inbox', { as: 'lead' })).mail).toEqual([])
    expect((await bus.call('board:requests', { as: 'ada' })).requests).toMatchObject([{ verdict: 'pending' }])
  })

  it('S4-063 a request answered by two processes concurrently has one answer', async () => {
    const ledger = ledgerFile()
    const one = await openEngine({ ledger })
    const other = await openEngine({ ledger })
    for (let n = 0; n < 10; n++) {
      const { requestId } = await one.bus.call('board:request', { as: 'lead', to: 'ada', topic: 'shutdown' })
      const answers = await Promise.allSettled([
        one.bus.call('board:respond', { as: 'ada', requestId, approve: true }),
        other.bus.call('board:respond', { as: 'ada', requestId, approve: false }),
      ])
      const given = answers.flatMap((each) => (each.status === 'fulfilled' ? [each.value.request.verdict] : []))
      expect(given).toHaveLength(1)
      const { mail } = await one.bus.call('board:inbox', { as: 'lead' })
      expect(mail.map(({ verdict }) => verdict)).toEqual(given)
    }
  })

  it('board:requests lists sent and received requests, latest first, up to the limit', async () => {
    const { bus } = await openTeam()
    for (const [as, to] of [
      ['lead', 'ada'],
      ['ada', 'lead'],
      ['lead', 'bob'],
    ] as const) {
      await bus.call('board:request', { as, to, topic: `${as} to ${to}` })
    }
    const topics = async (as: string, limit?: number) =>
      (await bus.call('board:requests', { as, ...(limit === undefined ? {} : { limit }) })).requests.map(
        ({ topic }) => topic,
      )
    expect(await topics('lead')).toEqual(['lead to bob', 'ada to lead', 'lead to ada'])
    expect(await topics('lead', 1)).toEqual(['lead to bob'])
    expect(await topics('ada')).toEqual(['ada to lead', 'lead to ada'])
    expect(await topics('eve')).toEqual([])
  })
})
