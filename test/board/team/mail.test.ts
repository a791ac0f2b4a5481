// Mail between members of a team: each message reaches its recipient once, and no other member.
import { describe, expect, it } from 'vitest'
import { ledgerFile, openEngine, refusalOf } from '../../engine/world.ts'
import { modelOf } from '../../operations/world.ts'
import { createAll, openTeam } from './world.ts'

const bodies = (inbox: { mail: Array<{ body: string }> }) => inbox.mail.map(({ body }) => body)

describe('The inbox of a member', () => {
  it('board:inbox returns each message once, oldest first, with sender and time', async () => {
    const { bus, clock } = await openTeam()
    const sentAt = clock.now()
    const { id } = await bus.call('board:send', { as: 'ada', to: 'bob', body: 'first', topic: 'tests' })
    clock.increment(5)
    await bus.call('board:send', { as: 'cy', to: 'bob', body: 'second' })
    expect(await bus.call('board:inbox', { as: 'bob' })).toEqual({
      mail: [
        { id, from: 'ada', kind: 'message', topic: 'tests', body: 'first', sentAt },
        { id: expect.any(String) as string, from: 'cy', kind: 'message', body: 'second', sentAt: sentAt + 5 },
      ],
      more: false,
    })
    expect(await bus.call('board:inbox', { as: 'bob' })).toEqual({ mail: [], more: false })
  })

  it('board:inbox with keep leaves messages unread, respects the limit, and reports that there are more', async () => {
    const { bus } = await openTeam()
    for (const body of ['1', '2', '3']) await bus.call('board:send', { as: 'ada', to: 'bob', body })
    const seen = await bus.call('board:inbox', { as: 'bob', keep: true, limit: 2 })
    expect([bodies(seen), seen.more]).toEqual([['1', '2'], true])
    const taken = await bus.call('board:inbox', { as: 'bob', limit: 2 })
    expect([bodies(taken), taken.more]).toEqual([['1', '2'], true])
    const rest = await bus.call('board:inbox', { as: 'bob', limit: 2 })
    expect([bodies(rest), rest.more]).toEqual([['3'], false])
  })

  it('of several readers with one name, in one process or two, one receives a message', async () => {
    const ledger = ledgerFile()
    const one = await openEngine({ ledger })
    const other = await openEngine({ ledger })
    for (let n = 0; n < 20; n++) await one.bus.call('board:send', { as: 'ada', to: 'bob', body: String(n) })
    const reads = Array.from({ length: 20 }, (_, n) =>
      (n % 2 === 0 ? one : other).bus.call('board:inbox', { as: 'bob', limit: 3 }),
    )
    const got = (await Promise.all(reads)).flatMap(bodies)
    expect(got.sort((a, b) => Number(a) - Number(b))).toEqual(Array.from({ length: 20 }, (_, n) => String(n)))
  })

  it('mail outlives the process that sent it', async () => {
    const ledger = ledgerFile()
    const before = await openEngine({ ledger })
    await before.bus.call('board:send', { as: 'ada', to: 'bob', body: 'still here' })
    await before.close()
    const { bus } = await openEngine({ ledger })
    expect(bodies(await bus.call('board:inbox', { as: 'bob' }))).toEqual(['still here'])
  })

  it('a member has a separate inbox on each board', async () => {
    const { bus } = await openTeam()
    const [parent] = await createAll(bus, 'Epic')
    await bus.call('board:open', { board: 'epic', parent: parent as number })
    await bus.call('board:send', { as: 'ada', to: 'bob', body: 'about the epic', board: 'epic' })
    expect(bodies(await bus.call('board:inbox', { as: 'bob' }))).toEqual([])
    expect(bodies(await bus.call('board:inbox', { as: 'bob', board: 'epic' }))).toEqual(['about the epic'])
    for (const [ability, input] of [
      ['board:send', { to: 'bob', body: 'x' }],
      ['board:inbox', {}],
      ['board:inbox', { keep: true }],
    ] as const) {
      const refusal = await refusalOf(bus.call(ability as string, { as: 'ada', board: 'epics', ...input }), 'NOT_FOUND')
      expect(refusal.message).toContain('Boards: main, epic')
    }
  })

  it('mail has limits: of body length, of empty recipients, and of the size of one answer', async () => {
    const { bus } = await openTeam()
    const send = (input: object) => bus.call('board:send' as string, { as: 'ada', to: 'bob', body: 'x', ...input })
    await refusalOf(send({ body: 'x'.repeat(65_537) }), 'INVALID_INPUT')
    await refusalOf(send({ body: '' }), 'INVALID_INPUT')
    await refusalOf(send({ to: ' ' }), 'INVALID_INPUT')
    await refusalOf(send({ topic: 'x'.repeat(101) }), 'INVALID_INPUT')
    await refusalOf(bus.call('board:inbox', { as: 'bob', limit: 501 }), 'INVALID_INPUT')
    expect((await refusalOf(send({ to: '*' }), 'INVALID_INPUT')).message).toContain('each of them by name')
    const unnamed = await refusalOf(bus.call('board:send', { to: 'bob', body: 'x' }), 'INVALID_INPUT')
    expect(unnamed.message).toContain('`as`')

    for (let n = 0; n < 6; n++) await send({ body: 'x'.repeat(65_536) })
    const sizes: number[] = []
    for (let more = true; more; ) {
      const inbox = await bus.call('board:inbox', { as: 'bob' })
      sizes.push(inbox.mail.length)
      more = inbox.more
    }
    expect(sizes).toEqual([4, 2])
  })
})

describe('A model’s mail', () => {
  it('a model sends and reads mail in the name of its task, whatever name it gives', async () => {
    const { bus, engine } = await openTeam()
    const { id } = await engine.create({ name: 'Own' })
    const caller = modelOf(id)
    await bus.call('board:send', { as: 'lead', to: 'ada', body: 'for ada alone' })
    await bus.call('board:send', { as: 'lead', to: id, body: 'for the model' })

    const inbox = await bus.call('board:inbox', { as: 'ada' }, { caller })
    expect(bodies(inbox)).toEqual(['for the model'])
    await bus.call('board:send', { as: 'lead', to: 'ada', body: 'not from the lead' }, { caller })
    const { mail } = await bus.call('board:inbox', { as: 'ada' })
    expect(mail.map(({ from, body }) => [from, body])).toEqual([
      ['lead', 'for ada alone'],
      [id, 'not from the lead'],
    ])
  })

  it('a model can neither answer nor list requests to others', async () => {
    const { bus, engine } = await openTeam()
    const { id } = await engine.create({ name: 'Own' })
    const caller = modelOf(id)
    const { requestId } = await bus.call('board:request', { as: 'ada', to: 'lead', topic: 'plan_approval' })
    await refusalOf(bus.call('board:respond', { requestId, approve: true, as: 'lead' }, { caller }), 'NOT_OWNER')
    expect((await bus.call('board:requests', { as: 'lead' }, { caller })).requests).toEqual([])
    expect((await bus.call('board:requests', { as: 'lead' })).requests).toMatchObject([{ verdict: 'pending' }])
  })
})
