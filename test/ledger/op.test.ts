import { describe, expect, it } from 'vitest'
import { all, type Op } from '../../src/ledger/op.ts'

const read = (name: string) => ({ want: 'rows', name })

/** Reads each of these in turn, and returns the replies. */
function* asking(...names: string[]): Op<string[]> {
  const replies: string[] = []
  for (const name of names) replies.push((yield read(name)) as string)
  return replies
}

/** Runs an operation; what it has asked for, turn by turn, and its result. */
function run<R>(op: Op<R>): { turns: unknown[]; result: R } {
  const turns: unknown[] = []
  let next = op.next()
  while (!next.done) {
    const asked = next.value as Array<{ name: string }>
    turns.push(asked.map(({ name }) => name))
    next = op.next(asked.map(({ name }) => `reply to ${name}`))
  }
  return { turns, result: next.value }
}

describe('all', () => {
  it('all sends the next requests of its operations together, and gives each its own reply', () => {
    expect(run(all([asking('a1', 'a2', 'a3'), asking('b1'), asking()]))).toEqual({
      turns: [['a1', 'b1'], ['a2'], ['a3']],
      result: [['reply to a1', 'reply to a2', 'reply to a3'], ['reply to b1'], []],
    })
  })

  it('all sends the requests of operations inside of another all with the rest', () => {
    const nested = all([all([asking('a1', 'a2'), asking('b1', 'b2')]), asking('c1')])
    expect(run(nested)).toEqual({
      turns: [
        ['a1', 'b1', 'c1'],
        ['a2', 'b2'],
      ],
      result: [
        [
          ['reply to a1', 'reply to a2'],
          ['reply to b1', 'reply to b2'],
        ],
        ['reply to c1'],
      ],
    })
  })

  it('all refuses an operation that writes', () => {
    function* writing(): Op<void> {
      yield { want: 'changes', deferred: true }
    }
    expect(() => run(all([asking('a1'), writing()]))).toThrow(new TypeError('all() runs reads only'))
  })

  it('all of no operations asks for nothing', () => {
    expect(run(all([]))).toEqual({ turns: [], result: [] })
  })
})
