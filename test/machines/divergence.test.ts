// The verdicts of the divergence guard, the count of its quiet time, and how a refusal is explained.
import { describe, expect, it } from 'vitest'
import { identOf } from '../../src/entities/call.ts'
import {
  callDiverged,
  differencesOf,
  divergenceMessage,
  holdsBack,
  isAnotherWay,
  isExcusedBy,
  quietTicksAfter,
  verdictOn,
} from '../../src/machines/divergence.ts'

const completed = { kind: 'call', status: 'completed', onInterrupt: 'fail', attempt: 1 } as const

describe('An entry holds new calls back', () => {
  it.each([
    ['a completed call', {}, true],
    ['children', { kind: 'spawn' }, true],
    ['a call that is to be asked about', { onInterrupt: 'ask' }, true],
    ['a call marked rerun', { onInterrupt: 'rerun' }, false],
    ['a failed call', { status: 'failed' }, false],
    ['a call in progress', { status: 'in_progress' }, false],
    ['a question', { kind: 'ask' }, false],
    ['a wait', { kind: 'wait' }, false],
    ['a sleep', { kind: 'sleep' }, false],
    ['a value', { kind: 'value' }, false],
    ['a call that another program saved', { attempt: 0 }, false],
  ] as const)('holdsBack for %s is %s', (_what, more, holds) => {
    expect(holdsBack({ ...completed, ...more })).toBe(holds)
  })
})

describe('A call that is asked for', () => {
  const known = { known: true, onInterrupt: 'fail', divergence: undefined, standing: true, excused: true } as const
  it.each([
    ['is made when it is in the journal', known, 'make'],
    ['is made when it is marked rerun', { ...known, known: false, onInterrupt: 'rerun' }, 'make'],
    ['is held while entries have not been asked for', { ...known, known: false }, 'hold'],
    ['is made and reported with divergence allow', { ...known, known: false, divergence: 'allow' }, 'report'],
    ['is made and reported while entries are excused', { ...known, known: false, standing: false }, 'report'],
    ['is made when none is left', { ...known, known: false, standing: false, excused: false }, 'make'],
  ] as const)('a call %s', (_what, work, verdict) => {
    expect(verdictOn(work)).toBe(verdict)
  })
})

describe('A failure that is made again', () => {
  const failed = { seq: 5, updatedAt: 100 }
  it.each([
    ['an entry that an earlier attempt recorded after it', { seq: 6, createdAt: 100, attempt: 1 }, true],
    ['an entry begun before it', { seq: 4, createdAt: 100, attempt: 1 }, false],
    ['an entry begun while it was in flight', { seq: 6, createdAt: 99, attempt: 1 }, false],
    ['an entry of this attempt', { seq: 6, createdAt: 101, attempt: 2 }, false],
  ])('a repeated failure excuses %s: %s', (_what, entry, excused) => {
    expect(isExcusedBy(failed, entry, 2)).toBe(excused)
  })

  it('isAnotherWay is true for a failure, a broken wait and a changed child, and false otherwise', () => {
    const way = (earlier: object, result: unknown = 1) =>
      isAnotherWay({ kind: 'call', status: 'completed', result: 1, ...earlier } as never, { result })
    expect(way({ status: 'failed' })).toBe(true)
    expect(way({ kind: 'wait' })).toBe(true)
    expect(way({ kind: 'spawn', result: ['a'] }, ['b'])).toBe(true)
    expect(way({ kind: 'spawn', result: ['a'] }, ['a'])).toBe(false)
  })
})

it('quietTicksAfter restarts at a request, and does not count while something is in flight', () => {
  expect(quietTicksAfter(7, { asked: true, busy: true })).toBe(0)
  expect(quietTicksAfter(7, { asked: false, busy: true })).toBe(7)
  expect(quietTicksAfter(7, { asked: false, busy: false })).toBe(8)
})

describe('A refusal', () => {
  const recorded = (id: string, name: string, params: unknown, key?: string) => ({
    id,
    kind: 'call' as const,
    name,
    params,
    ident: identOf(key, params),
  })
  const refusal = (name: string, params: unknown, unasked: Array<ReturnType<typeof recorded>>, key?: string) =>
    callDiverged({ taskId: 'task-1', run: 2, kind: 'call', name, params, ident: identOf(key, params) }, unasked)

  it('callDiverged names the call, the entries that have not been asked for, and what would work', () => {
    const error = refusal('pay', { amount: 1 }, [recorded('call-a', 'look', null)])
    expect(error.code).toBe('CALL_DIVERGED')
    expect(error.message).toBe(
      'The call "pay" was not made in run 2 of task-1: it is not in the journal, and work that earlier runs completed has not been ' +
        'asked for again: call "look" (call-a). Calls are identified by their params: take volatile values from run.now(), run.uuid() ' +
        "or run.random() (with a `key` where calls run in parallel), or give the call a `key`. If it is new work, set divergence: 'allow' on the call, on the executor, or when " +
        'the task is retried.',
    )
    expect(error.details).toEqual({
      taskId: 'task-1',
      run: 2,
      call: 'pay',
      unasked: [{ callId: 'call-a', kind: 'call', name: 'look' }],
      unaskedCount: 1,
    })
  })

  it('callDiverged compares with the entry of the same name that differs least', () => {
    const entries = [
      recorded('call-a', 'pay', { to: 'ann', at: 1 }),
      recorded('call-b', 'pay', { to: 'bob', at: 1 }),
      recorded('call-c', 'other', { to: 'bob', at: 2 }),
    ]
    const error = refusal('pay', { to: 'bob', at: 2 }, entries)
    expect(error.message).toContain(' `at` was 1, now 2. Calls')
    expect(error.details).toMatchObject({ nearest: 'call-b', differences: [{ path: 'at', was: '1', now: '2' }] })
  })

  it('callDiverged reports equal params that were recorded under another name', () => {
    const error = refusal('charge-card', { amount: 1 }, [recorded('call-a', 'charge', { amount: 1 })])
    expect(error.message).toContain('`charge` was recorded with these params; the run now asks for `charge-card`.')
    expect(error.details).toMatchObject({ nearest: 'call-a' })
    const keyed = refusal('charge-card', { amount: 1 }, [recorded('call-a', 'charge', { amount: 1 }, 'x')], 'y')
    expect(keyed.details).toMatchObject({ nearest: 'call-a' })
    expect(
      refusal('charge-card', { amount: 1 }, [recorded('call-a', 'charge', { amount: 2 }, 'x')]).details,
    ).not.toHaveProperty('nearest')
  })

  it('callDiverged reports that only the key differs', () => {
    const keyed = refusal('pay', { amount: 1 }, [recorded('call-a', 'pay', { amount: 1 }, 'x')], 'y')
    expect(keyed.message).toContain('The params are the same, but the key was "x" then and the key was "y" now.')
    const unkeyed = refusal('pay', { amount: 1 }, [recorded('call-a', 'pay', { amount: 1 })], 'k'.repeat(99))
    expect(unkeyed.message).toContain('The params are the same, but it had no key then and it had another key now.')
  })

  it('callDiverged reports the differences between spawned children', () => {
    const image = (at: number) => [[{ name: 'child', input: { at } }]]
    const entry = { ...recorded('call-a', 'spawn', image(1)), kind: 'spawn' as const }
    const asked = { taskId: 'task-1', run: 2, kind: 'spawn' as const, name: 'spawn', params: image(2), ident: 'p:2' }
    const { message } = callDiverged(asked, [entry])
    expect(message).toContain('run.spawn was not made')
    expect(message).toContain('`[0][0].input.at` was 1, now 2.')
  })

  it('callDiverged is bounded for any number of entries and any size of params', () => {
    const large = Array.from({ length: 100 }, (_, n) => ({ n, text: 'x'.repeat(200) }))
    const entries = Array.from({ length: 500 }, (_, n) => recorded(`call-${n}`, 'pay', { list: large, n }))
    const { message, details } = refusal(
      'pay',
      { list: large.map(({ text }) => ({ text: `${text}y`, n: -1 })), n: -1 },
      entries,
    )
    expect(message).toContain('and 490 more')
    expect(message.length).toBeLessThan(3_000)
    expect(details).toMatchObject({ unaskedCount: 500 })
    expect((details['unasked'] as unknown[]).length).toBe(10)
    expect((details['differences'] as unknown[]).length).toBe(5)
  })
})

it('differencesOf lists added, removed and changed values by path', () => {
  expect(differencesOf({ a: 1, b: [1, 2], c: null }, { a: '1', b: [1], d: {} })).toEqual([
    { path: 'a', was: '1', now: '"1"' },
    { path: 'b[1]', was: '2', now: 'not given' },
    { path: 'c', was: 'null', now: 'not given' },
    { path: 'd', was: 'not given', now: '{}' },
  ])
  expect(differencesOf(undefined, { a: 1 })).toEqual([{ path: 'params', was: 'null', now: '{"a":1}' }])
  expect(differencesOf({ a: [1] }, { a: { 0: 1 } })).toEqual([{ path: 'a', was: '[1]', now: '{"0":1}' }])
  expect(differencesOf({ a: [1] }, { a: [1] })).toEqual([])
})

it('divergenceMessage names the call and at most ten entries that have not been asked for', () => {
  const left = Array.from({ length: 12 }, (_, n) => ({ kind: 'call' as const, name: `old ${n}` }))
  const data = divergenceMessage({ id: 'call-new', kind: 'call', name: 'new' }, left)
  expect(data).toMatchObject({ callId: 'call-new', call: 'new', unasked: 12 })
  expect(data['entries']).toHaveLength(10)
})
