// The first difference of two runs is found at its place and described so that a person can act on it.

import { describe, expect, it } from 'vitest'
import { firstDifference } from './compare-runs.ts'
import type { MachineRunner, Script, View } from './machine-runner.ts'

const view: View = {
  status: 'active',
  value: 'idle',
  context: { total: 0, items: [{ id: 'a' }] },
  output: null,
  error: null,
  children: [],
  actions: [],
  emitted: [],
}

interface Played {
  runner: MachineRunner
  calls: string[]
}

/** Shows these views one after the other; what is an error is thrown. */
function runnerOf(...shown: (View | Error)[]): Played {
  const calls: string[] = []
  const next = async (call: string) => {
    calls.push(call)
    const found = shown.shift() as View | Error
    if (found instanceof Error) throw found
    return found
  }
  const runner: MachineRunner = {
    start: () => next('start'),
    send: (event) => next(`send ${JSON.stringify(event)}`),
    advance: (ms) => next(`advance ${ms}`),
    async end() {
      calls.push('end')
    },
  }
  return { runner, calls }
}

const script: Script = ['GO', 500, { type: 'ADD', by: 2 }]

describe('the comparison of two runs', () => {
  it('finds no difference in equal runs, plays the whole script on both, and ends both', async () => {
    const [one, other] = [runnerOf(view, view, view, view), runnerOf(view, view, view, view)]
    expect(await firstDifference(one.runner, other.runner, script)).toBeUndefined()
    expect(one.calls).toEqual(['start', 'send {"type":"GO"}', 'advance 500', 'send {"type":"ADD","by":2}', 'end'])
    expect(other.calls).toEqual(one.calls)
  })

  it('names the entry, the place in the view, both values and both views, and stops there', async () => {
    const changed = { ...view, context: { total: 0, items: [{ id: 'b' }] } }
    const [one, other] = [runnerOf(view, view, view), runnerOf(view, view, changed)]
    expect(await firstDifference(one.runner, other.runner, script)).toBe(
      [
        'after entry 2 of 3, 500: context.items.0.id is "b", expected "a"',
        `  expected ${JSON.stringify(view)}`,
        `  actual   ${JSON.stringify(changed)}`,
      ].join('\n'),
    )
    expect(other.calls.at(-1)).toBe('end')
  })

  it('says what is missing on either side', async () => {
    const more = { ...view, children: ['kid'] }
    expect(await firstDifference(runnerOf(view).runner, runnerOf(more).runner, [])).toContain(
      'after the start: children.0 is "kid", expected missing',
    )
    expect(await firstDifference(runnerOf(more).runner, runnerOf(view).runner, [])).toContain(
      'after the start: children.0 is missing, expected "kid"',
    )
  })

  it('reports what the second runner throws as the difference, and ends both', async () => {
    const [one, other] = [runnerOf(view, view), runnerOf(view, new Error('the ledger is closed'))]
    const difference = await firstDifference(one.runner, other.runner, script)
    expect(difference).toContain('after entry 1 of 3, "GO": the runner threw Error: the ledger is closed')
    expect([one.calls.at(-1), other.calls.at(-1)]).toEqual(['end', 'end'])
  })
})
