// What a task has printed, as the page makes lines of it.

import { expect, it } from 'vitest'
import { callStarts } from '../../page/src/model/call-starts.ts'
import { tokensText } from '../../page/src/model/format.ts'
import {
  lastOutput,
  latest,
  type OutputPiece,
  outputBlocks,
  outputLines,
  pieceIn,
  unstored,
} from '../../page/src/model/output.ts'
import { timelineOf } from '../../page/src/model/timeline.ts'
import type { Call, Message, RunRecord } from '../../page/src/model/wire.ts'
import { eventOf } from './page-fixtures.ts'

const written = (seq: number, text: string, data: object = {}) =>
  eventOf({ seq, taskId: 'a', type: 'output.written', data: { text, run: 1, ...data } })
const run = (number: number, attempt: number) => ({ number, attempt, generation: 1 }) as RunRecord
const piece = (seq: number, text: string): OutputPiece => ({ seq, text, stream: 'stdout' })
const textOf = (lines: ReadonlyArray<{ text: string }>) => lines.map(({ text }) => text)

it('a piece of the stream is output unless it is of a message', () => {
  const item = { type: 'content', taskId: 'a', seq: 4, content: 'x' } as const
  expect(pieceIn({ ...item, stream: 'stderr' })).toEqual({ seq: 4, text: 'x', stream: 'stderr' })
  expect(pieceIn({ ...item, messageId: 'm' })).toBeUndefined()
})

it('a piece that an event has is left to the event, and old pieces make room for new ones', () => {
  const events = [written(3, 'a\n'), eventOf({ seq: 5, taskId: 'a' })]
  expect(unstored([piece(3, 'a\n'), piece(3, 'b\n'), piece(5, 'c\n')], events)).toEqual([
    piece(3, 'b\n'),
    piece(5, 'c\n'),
  ])
  const long = [piece(1, 'x'.repeat(150_000)), piece(1, 'y'.repeat(150_000))]
  expect(latest(long)).toEqual(long.slice(1))
  expect(latest(Array.from({ length: 3_000 }, () => piece(1, 'x')))).toHaveLength(2_000)
})

it('lines are made of stored and live pieces by their positions, each with its attempt and its stream', () => {
  const events = [
    written(1, 'of an earlier generation\n', { run: 1 }),
    written(4, 'one\ntw', { run: 2 }),
    written(6, 'o\n', { run: 2 }),
    written(7, 'wrong\n', { run: 2, stream: 'stderr' }),
    written(9, 'again\n', { run: 3 }),
  ]
  expect(outputLines(events, [run(2, 1), run(3, 2)], [piece(9, 'live'), piece(9, ' piece')])).toEqual([
    { attempt: 1, stream: 'stdout', text: 'one' },
    { attempt: 1, stream: 'stdout', text: 'two' },
    { attempt: 1, stream: 'stderr', text: 'wrong' },
    { attempt: 2, stream: 'stdout', text: 'again' },
    { attempt: 2, stream: 'stdout', text: 'live piece' },
  ])
})

it('adjacent lines of one stream are one block, without escape sequences and what a carriage return has overwritten', () => {
  const events = [written(1, '\u001b[31mred\u001b[0m\t[ok]\n10 %\r20 %\r\nplain\n'), written(2, 'x'.repeat(3_000))]
  const [block, ...others] = outputBlocks(outputLines(events, [run(1, 1)], []), 10)
  expect(others).toEqual([])
  expect(block?.first).toBe(10)
  expect(block?.text.split('\n').slice(0, 3)).toEqual(['red\t[ok]', '20 %', 'plain'])
  expect(block?.text.endsWith('x… (3,000 characters)')).toBe(true)
})

it('the last output of a failed attempt is the end of its log, or that of its error when the log does not reach it', () => {
  const lines = outputLines(
    [written(1, 'earlier\n'), written(2, 'a\nb\n', { run: 2 }), written(3, 'wrong\n', { run: 2, stream: 'stderr' })],
    [run(1, 1), run(2, 2)],
    [],
  )
  expect(textOf(lastOutput(lines, 2, null))).toEqual(['a', 'b', 'wrong'])
  expect(textOf(lastOutput(lines, 2, { stdout: 'a\nb\n', stderr: 'wrong\n' }))).toEqual(['a', 'b', 'wrong'])
  expect(textOf(lastOutput(lines, 2, { stdout: 'y\nz\n', stderr: 'wrong\n' }))).toEqual(['y', 'z', 'wrong'])
  expect(lastOutput(lines, 3, undefined)).toEqual([])
})

it('a call that waited for approval begins when it was approved, on the timeline too', () => {
  const call = { id: 'c', name: 'pay', status: 'completed', params: {}, createdAt: 1_000, updatedAt: 9_000 } as Call
  const events = [eventOf({ seq: 8, taskId: 'a', type: 'call.started', data: { callId: 'c' } })]
  expect(callStarts(events)(call)).toBe(8_000)
  expect(callStarts([])(call)).toBe(1_000)
  const { bars } = timelineOf({ messages: [], runs: [], calls: [call], events, now: 10_000 })
  expect(bars).toMatchObject([{ id: 'c', from: 8_000, to: 9_000 }])
})

it('a step of a model is a bar that ends with its message, in a lane of its own', () => {
  const usage = { inputTokens: 7, outputTokens: 3, totalTokens: 10 }
  const said = (id: string, timestamp: number, tookMs?: number) =>
    ({ id, timestamp, step: { modelId: 'm', usage, ...(tookMs === undefined ? {} : { tookMs }) } }) as Message
  const call = { id: 'c', name: 'pay', status: 'completed', params: {}, createdAt: 5_000, updatedAt: 6_000 } as Call
  const later = { ...run(2, 1), generation: 2, startedAt: 4_000, endedAt: 9_000, outcome: 'completed' } as RunRecord
  const messages = [said('earlier', 3_000, 10), said('now', 5_000, 800), said('of an earlier version', 5_500)]
  const { bars, lanes } = timelineOf({ runs: [later], calls: [call], messages, events: [], now: 10_000 })
  expect(lanes).toEqual(['attempt 1', 'model', 'calls'])
  expect(bars.filter(({ kind }) => kind === 'step')).toEqual([
    { id: 'now', kind: 'step', status: 'completed', label: 'm, 7 tokens in, 3 out', from: 4_200, to: 5_000, lane: 1 },
  ])
})

it('tokens are shown as far as the provider reports them', () => {
  expect(tokensText({ inputTokens: 1_200, outputTokens: null })).toBe('1,200 tokens in, ? out')
  expect(tokensText({ inputTokens: null, outputTokens: null })).toBe('')
})
