// The text of an agent from its stream: each message once and whole, however it arrived; clean, even where a piece ends inside a sequence.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { StreamItem } from '../../../src/engine/engine-api.ts'
import { AnswerStream, TextFlow } from '../../../src/surfaces/terminal/answer-stream.ts'
import { cleanText } from '../../../src/surfaces/terminal/terminal-text.ts'

const at = { taskId: 'task-a', seq: 1 }
const piece = (messageId: string, content: string): StreamItem => ({ ...at, type: 'content', content, messageId })
const message = (messageId: string, content: string, role = 'assistant', announcement = false): StreamItem => ({
  ...at,
  type: 'message',
  messageId,
  role,
  content,
  announcement,
})

function read(...items: StreamItem[]) {
  let text = ''
  const notes: string[] = []
  const answer = new AnswerStream({ text: (each) => (text += each), note: (line) => notes.push(line) })
  for (const item of items) answer.take(item)
  answer.end()
  return { text, notes }
}

describe('AnswerStream', () => {
  it('AnswerStream passes each message on once, from pieces, the rest of the message, or the whole', () => {
    expect(read(piece('m', 'Hel'), piece('m', 'lo'), message('m', 'Hello')).text).toBe('Hello\n')
    expect(read(piece('m', 'Hel'), message('m', 'Hello')).text).toBe('Hello\n')
    expect(read(message('m', 'Hello')).text).toBe('Hello\n')
    expect(read(piece('m', 'Hello'), message('m', 'Hello'), piece('n', 'you'), message('n', 'you')).text).toBe(
      'Hello\nyou\n',
    )
  })

  it('AnswerStream passes on the whole message when pieces were lost', () => {
    expect(read(piece('m', 'Hel'), piece('m', '!'), message('m', 'Hello, you!')).text).toBe('Hel!\nHello, you!\n')
  })

  it('AnswerStream shows an interrupted message and its repetition as two', () => {
    const { text, notes } = read(piece('m', 'Hel'), piece('n', 'Hello'), message('n', 'Hello'))
    expect({ text, notes }).toEqual({ text: 'Hel\nHello\n', notes: ['(interrupted; starting again)'] })
  })

  it('AnswerStream leaves out announcements, instructions and messages of others', () => {
    const { text, notes } = read(
      message('s', 'You are.', 'system'),
      message('u', 'The goal', 'user'),
      message('a', '🔧 Calling x...', 'assistant', true),
      piece('m', 'half'),
      message('v', 'Faster', 'user'),
      message('m', 'half and half'),
    )
    expect(notes).toEqual(['user: Faster'])
    expect(text).toBe('half\n and half\n')
  })
})

describe('TextFlow', () => {
  const nasty = fc.array(
    fc.constantFrom(
      'a',
      ' ',
      '\n',
      '\r\n',
      '\u001b[31m',
      '\u001b[0m',
      '\u001b]0;title\u0007',
      '😀',
      'é',
      '\t',
      '\u202e',
      'ok',
    ),
    { maxLength: 30 },
  )

  it('TextFlow cleans text in pieces like the whole text, wherever it is cut', () => {
    fc.assert(
      fc.property(nasty, fc.array(fc.nat(60), { maxLength: 6 }), (parts, cuts) => {
        const text = parts.join('')
        const flow = new TextFlow()
        let shown = ''
        let from = 0
        for (const cut of [...cuts.toSorted((a, b) => a - b), text.length]) {
          shown += flow.take(text.slice(from, Math.max(from, cut)))
          from = Math.max(from, cut)
        }
        expect(shown + flow.end()).toBe(cleanText(text))
      }),
    )
  })

  it('TextFlow never passes a control character on, even of an incomplete sequence', () => {
    const flow = new TextFlow()
    expect(flow.take('a\u001b]0;') + flow.take('x'.repeat(200)) + flow.end()).not.toContain('\u001b')
  })
})
