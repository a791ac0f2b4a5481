// The log of calls: who called what, how long it took, how it ended.
import { describe, expect, it } from 'vitest'
import { createBus } from '../../src/bus/bus.ts'
import type { CallLogEntry } from '../../src/bus/call-log.ts'
import { SimulatedClock } from '../../src/testing/simulated-clock.ts'
import { collect, model, refusalOf, register, setup } from './world.ts'

describe('the log of calls', () => {
  it('S1-086 the log has caller, ability, time, duration and success of each call', async () => {
    const clock = new SimulatedClock(1_000)
    const { bus } = setup({ clock })
    register(bus, 'slow:work', () => clock.increment(250))
    await bus.invoke('slow:work')('{}', { caller: { surface: 'http', owner: 'ada' } })
    await bus.call('notes:add', { text: 'a' })
    expect(bus.log()).toEqual([
      { at: 1_000, abilityId: 'slow:work', caller: { surface: 'http', owner: 'ada' }, durationMs: 250, ok: true },
      { at: 1_250, abilityId: 'notes:add', caller: { surface: 'library' }, durationMs: 0, ok: true },
    ])
  })

  it('S1-086 the log has refused and failed calls too, with their codes', async () => {
    const { bus } = setup()
    register(bus, 'bad:luck', () => {
      throw new Error('no luck')
    })
    const caller = { ...model, abilities: [['notes:*', 'bad:*']] }
    const attempts: Array<[string, unknown]> = [
      ['no:where', {}],
      ['notes:secret', {}],
      ['notes:watch', {}],
      ['notes:add', {}],
      ['bad:luck', {}],
    ]
    for (const [id, input] of attempts) await bus.call(id, input, { caller }).catch(() => {})
    expect(bus.log().map(({ abilityId, ok, code }) => [abilityId, ok, code])).toEqual([
      ['no:where', false, 'NOT_FOUND'],
      ['notes:secret', false, 'FORBIDDEN'],
      ['notes:watch', false, 'TYPE_MISMATCH'],
      ['notes:add', false, 'INVALID_INPUT'],
      ['bad:luck', false, 'EXECUTION_ERROR'],
    ])
    expect(bus.log()[0]?.caller).toEqual(model)
  })

  it('S1-086 the log has a stream once, when it ends, with its whole duration', async () => {
    const clock = new SimulatedClock(0)
    const { bus } = setup({ clock })
    const chunks = bus.invokeStream('notes:watch')('{}')
    await chunks.next()
    clock.increment(70)
    expect(bus.log()).toEqual([])
    await collect(chunks)
    expect(bus.log()).toMatchObject([{ abilityId: 'notes:watch', at: 0, durationMs: 70, ok: true }])
  })

  it('S1-086 the log keeps the newest `logSize` entries', async () => {
    const bus = createBus({ logSize: 3 })
    for (const n of [1, 2, 3, 4, 5, 6, 7]) register(bus, `n:${n}`)
    const ids = (entries: CallLogEntry[]) => entries.map(({ abilityId }) => abilityId)
    await bus.call('n:1', {})
    await bus.call('n:2', {})
    expect(ids(bus.log())).toEqual(['n:1', 'n:2'])
    for (const n of [3, 4, 5, 6, 7]) await bus.call(`n:${n}`, {})
    expect(ids(bus.log())).toEqual(['n:5', 'n:6', 'n:7'])
    expect(ids(bus.log({ limit: 2 }))).toEqual(['n:6', 'n:7'])
    expect(ids(bus.log({ limit: 0 }))).toEqual([])
    expect(ids(bus.log({ abilityId: 'n:5' }))).toEqual(['n:5'])
    await refusalOf(() => bus.log({ limit: -1 }), 'INVALID_INPUT')
  })

  it('S1-086 the log can be switched off, and listeners are still notified', async () => {
    const { bus } = setup({ logSize: 0 })
    const received: string[] = []
    bus.onCall(({ abilityId }) => received.push(abilityId))
    await bus.call('notes:add', { text: 'a' })
    expect(bus.log()).toEqual([])
    expect(received).toEqual(['notes:add'])
  })

  it('S1-086 the log cannot be changed through its entries', async () => {
    const { bus } = setup()
    const caller = { surface: 'http', owner: 'ada' }
    await bus.call('notes:add', { text: 'a' }, { caller })
    caller.owner = 'eve'
    expect(() => Object.assign(bus.log()[0] as CallLogEntry, { ok: false })).toThrow(TypeError)
    expect(bus.log()[0]?.caller.owner).toBe('ada')
  })

  it('S1-086 a listener receives each call until it is removed; an error in one does not affect others', async () => {
    const reported: unknown[] = []
    const { bus } = setup({ onError: (error, context) => reported.push([error, context]) })
    const received: boolean[] = []
    const fault = new Error('bad listener')
    bus.onCall(() => {
      throw fault
    })
    const stop = bus.onCall(({ ok }) => received.push(ok))
    expect(await bus.call('notes:add', { text: 'a' })).toEqual({ id: 'note-1' })
    await bus.call('notes:add', {}).catch(() => {})
    stop()
    await bus.call('notes:add', { text: 'b' })
    expect(received).toEqual([true, false])
    expect(reported).toHaveLength(3)
    expect(reported[0]).toEqual([fault, { abilityId: 'notes:add', doing: 'notify a listener of calls' }])
  })
})
