// The sources of facts: people and programs, and independent models and tools.
import { describe, expect, it } from 'vitest'
import { addVoice, isConfirmed, joinedSources, lasts, maxConfidence, type Source } from '../../src/entities/source.ts'

const person: Source = { kind: 'person' }
const ann: Source = { kind: 'model', taskId: 'task-a', voice: 'task-a' }
const annsTool: Source = { ...ann, kind: 'tool' }
const annsChild: Source = { kind: 'model', taskId: 'task-c', voice: 'task-a' }
const bob: Source = { kind: 'model', taskId: 'task-b', voice: 'task-b' }
const client: Source = { kind: 'model', agentId: 'cora' }

describe('V-05 sources', () => {
  it.each<[isConfirmedBy: boolean, ...Source[]]>([
    [true, person],
    [true, { kind: 'program' }],
    [false, ann],
    [false, ann, annsTool, annsChild],
    [false, client],
    [true, ann, bob],
    [true, ann, client],
    [true, ann, person],
  ])('isConfirmed is %s for the sources %j %j %j', (expected, ...sources) => {
    expect(isConfirmed(sources)).toBe(expected)
    expect(maxConfidence(sources)).toBe(expected ? 100 : 70)
    const fact = { confidence: 100, category: 'security', statedBy: sources }
    expect(lasts(fact, { threshold: 0, categories: ['security'] })).toBe(expected)
  })

  it('addVoice is true for a new voice, and for people and programs each time', () => {
    expect(addVoice([ann], [annsTool, annsChild])).toBe(false)
    expect(addVoice([ann], [bob])).toBe(true)
    expect(addVoice([person], [person])).toBe(true)
    expect(addVoice([person], [ann])).toBe(true)
  })

  it('V-05 joinedSources keeps a person when there are more voices than fit, and a voice that is dropped adds nothing', () => {
    // Each has created the next: together they are one voice.
    const names = Array.from({ length: 30 }, (_, n) => `agent-${n}`)
    const led = names.map((_, n): Source => ({ kind: 'model', voice: names.slice(0, n + 1).join(' > ') }))
    const known = joinedSources([led])
    const joined = joinedSources([known, [person]])
    expect(joined).toHaveLength(20)
    expect([isConfirmed(known), isConfirmed(joined), addVoice(known, [person])]).toEqual([false, true, true])
    expect([addVoice(known.slice(1), [bob]), addVoice(known, [bob])]).toEqual([true, false])
  })

  it('joinedSources lists each source once, people first, then new voices, at most twenty', () => {
    expect(
      joinedSources([
        [ann, annsTool],
        [ann, bob],
      ]),
    ).toEqual([ann, bob, annsTool])
    const tasks = Array.from({ length: 40 }, (_, at): Source => ({ kind: 'model', taskId: `task-${at}`, voice: 'v' }))
    const joined = joinedSources([tasks, [person]])
    expect(joined).toHaveLength(20)
    expect(joined.slice(0, 2)).toEqual([person, tasks[0]])
  })
})
