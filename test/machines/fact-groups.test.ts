// The groups of facts that say the same, and the one of each that stays.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { groupsOf, survivorOf } from '../../src/memory/group-facts.ts'

type Pair = readonly [string, string]

const worlds = fc.integer({ min: 1, max: 30 }).chain((size) => {
  const ids = Array.from({ length: size }, (_, at) => `f${at}`)
  const id = fc.constantFrom(...ids)
  return fc.record({ ids: fc.constant(ids), pairs: fc.array(fc.tuple(id, id), { maxLength: 40 }) })
})

/** Who is reached from an id by pairs, itself included: the groups as a plain search finds them. */
function reachedFrom(start: string, pairs: readonly Pair[]): Set<string> {
  const reached = new Set([start])
  for (const id of reached) {
    for (const [a, b] of pairs) {
      if (a === id) reached.add(b)
      if (b === id) reached.add(a)
    }
  }
  return reached
}

describe('the groups of facts', () => {
  it('S2-074 groupsOf is transitive: a fact that is similar to one member belongs to the group', () => {
    expect(
      groupsOf(
        ['a', 'b', 'c', 'd', 'e', 'f'],
        [
          ['e', 'f'],
          ['c', 'd'],
          ['d', 'a'],
        ],
      ),
    ).toEqual([
      ['a', 'c', 'd'],
      ['e', 'f'],
    ])
  })

  it('groupsOf returns groups of two or more, in the order of their first member', () => {
    expect(groupsOf([], [])).toEqual([])
    expect(groupsOf(['a', 'b'], [])).toEqual([])
    expect(groupsOf(['a', 'b'], [['b', 'b']])).toEqual([])
    expect(
      groupsOf(
        ['z', 'y', 'x', 'w'],
        [
          ['w', 'y'],
          ['x', 'z'],
        ],
      ),
    ).toEqual([
      ['z', 'x'],
      ['y', 'w'],
    ])
  })

  it('groupsOf returns each id once, and no id that was not listed', () => {
    expect(groupsOf(['a', 'b', 'a'], [['a', 'b']])).toEqual([['a', 'b']])
    expect(
      groupsOf(
        ['a', 'b'],
        [
          ['a', 'gone'],
          ['gone', 'b'],
        ],
      ),
    ).toEqual([])
  })

  it('S2-074 groupsOf puts each id into one group with everything that its pairs reach', () => {
    fc.assert(
      fc.property(worlds, ({ ids, pairs }) => {
        const groups = groupsOf(ids, pairs)
        const members = groups.flat()
        expect(new Set(members).size).toBe(members.length)
        const groupOf = new Map(groups.flatMap((group) => group.map((id) => [id, group] as const)))
        for (const [a, b] of pairs) if (a !== b) expect(groupOf.get(a)).toBe(groupOf.get(b))
        for (const id of ids) expect(new Set(groupOf.get(id) ?? [id])).toEqual(reachedFrom(id, pairs))
        expect(groups.map(([first]) => ids.indexOf(first as string))).toEqual(
          groups.map(([first]) => ids.indexOf(first as string)).sort((a, b) => a - b),
        )
      }),
    )
  })

  it('S2-074 groupsOf does not depend on the order of pairs or within pairs', () => {
    const shuffled = worlds.chain(({ ids, pairs }) =>
      fc.record({
        ids: fc.constant(ids),
        pairs: fc.constant(pairs),
        others: fc.shuffledSubarray(pairs, { minLength: pairs.length }),
      }),
    )
    fc.assert(
      fc.property(shuffled, ({ ids, pairs, others }) => {
        expect(
          groupsOf(
            ids,
            others.map(([a, b]): Pair => [b, a]),
          ),
        ).toEqual(groupsOf(ids, pairs))
      }),
    )
  })

  it('groupsOf is fast for a chain of a hundred thousand, from either end', () => {
    const ids = Array.from({ length: 100_000 }, (_, at) => `f${at}`)
    const chain = ids.slice(1).map((id, at): Pair => [ids[at] as string, id])
    expect(groupsOf(ids, chain)).toEqual([ids])
    expect(groupsOf(ids, chain.toReversed())).toEqual([ids])
  })
})

describe('the fact that stays', () => {
  const fact = (id: string, confidence: number, createdAt: number, seq: number) => ({ id, confidence, createdAt, seq })
  const neither = () => false

  it('S2-075 survivorOf picks the highest confidence, then the newest, then the last of one millisecond', () => {
    expect(survivorOf([fact('old', 80, 1, 1), fact('sure', 90, 1, 2), fact('new', 80, 9, 3)], neither).id).toBe('sure')
    expect(survivorOf([fact('new', 80, 9, 1), fact('old', 80, 1, 2)], neither).id).toBe('new')
    expect(survivorOf([fact('first', 80, 1, 1), fact('last', 80, 1, 2)], neither).id).toBe('last')
    expect(survivorOf([fact('alone', 0, 1, 1)], neither).id).toBe('alone')
  })

  it('V-05 survivorOf never picks a less specific fact of equal confidence, in any order', () => {
    const saysLess = (a: { id: string }, b: { id: string }) => a.id.length < b.id.length && b.id.startsWith(a.id)
    const [vague, full, other] = [fact('a', 80, 9, 3), fact('a1', 80, 1, 1), fact('b', 80, 0, 2)]
    for (const group of [
      [vague, full, other],
      [full, other, vague],
      [other, vague, full],
    ])
      expect(survivorOf(group, saysLess).id).toBe('a1')
    expect(survivorOf([fact('a', 90, 1, 1), full], saysLess).id).toBe('a')
  })

  it('S2-075 S2-079 survivorOf picks the highest confidence in any order of the facts', () => {
    const few = fc.integer({ min: 0, max: 3 })
    const facts = fc
      .array(fc.tuple(few, few), { minLength: 1, maxLength: 12 })
      .map((drawn) => drawn.map(([confidence, createdAt], seq) => fact(`f${seq}`, confidence, createdAt, seq)))
    fc.assert(
      fc.property(facts, (group) => {
        const survivor = survivorOf(group, neither)
        expect(survivor.confidence).toBe(Math.max(...group.map(({ confidence }) => confidence)))
        const equals = group.filter(({ confidence }) => confidence === survivor.confidence)
        expect(survivor.createdAt).toBe(Math.max(...equals.map(({ createdAt }) => createdAt)))
        expect(survivorOf(group.toReversed(), neither)).toBe(survivor)
      }),
    )
  })
})
