// Abilities of one bus on another one: which are forwarded, and until when.
import { describe, expect, it } from 'vitest'
import { createBus } from '../../src/bus/bus.ts'
import { forwardAbilities } from '../../src/bus/mirror-bus.ts'
import { register } from './world.ts'

describe('An ability of a bus', () => {
  it('forwardAbilities registers abilities on the other bus, now and later, until they are unregistered here', () => {
    const [from, to] = [createBus(), createBus()]
    register(from, 'a:early')
    forwardAbilities(from, to, new Set())
    register(from, 'a:late')
    expect(['a:early', 'a:late'].map((id) => to.get(id) === from.get(id))).toEqual([true, true])
    for (const id of ['a:early', 'a:late']) from.unregister(id)
    expect(['a:early', 'a:late'].map((id) => to.has(id))).toEqual([false, false])
    register(from, 'a:early')
    expect(to.has('a:early')).toBe(true)
  })

  it('forwardAbilities skips kept abilities, and ids that the other bus has', () => {
    const [from, to] = [createBus(), createBus()]
    register(from, 'a:kept')
    register(to, 'a:taken')
    const own = to.get('a:taken')
    forwardAbilities(from, to, new Set(from.abilities()))
    register(from, 'a:taken')
    expect([to.has('a:kept'), to.get('a:taken')]).toEqual([false, own])
    from.unregister('a:taken')
    from.unregister('a:kept')
    expect(to.get('a:taken')).toBe(own)
  })

  it('the end of the forwarding unregisters the abilities, and later ones are not forwarded', () => {
    const [from, to] = [createBus(), createBus()]
    const before = to.abilities().map(({ id }) => id)
    const stop = forwardAbilities(from, to, new Set())
    register(from, 'a:early')
    stop()
    register(from, 'a:late')
    expect(to.abilities().map(({ id }) => id)).toEqual(before)
    expect(from.has('a:early')).toBe(true)
  })
})
