// Conversations in `show` and `logs`: each message and each call once, failures, and tokens.
import { expect, it } from 'vitest'
import { startFakeOpenAi } from '../../agents/models/fake-openai-server.ts'
import { call } from './agent-workplace.ts'
import { Workplace } from './workplace.ts'

async function talked(): Promise<Workplace> {
  const place = new Workplace()
  place.write('note.txt', 'the note\n')
  await using fake = await startFakeOpenAi([
    { status: 503, error: 'busy', headers: { 'retry-after-ms': '1' } },
    {
      text: 'I look.',
      toolCalls: [
        { name: 'fs_read', arguments: { path: 'note.txt' } },
        { name: 'fs_read', arguments: { path: 'other' } },
      ],
    },
    { text: 'It says\nthe note.' },
  ])
  const env = { LOCAL_BASE_URL: fake.baseURL }
  const args = ['ask', 'Read it', '--model', 'local:m', '--files', '.']
  expect((await call(place, args, { env }).ended).code).toBe(0)
  return place
}

it('errand logs prints each message and each call once, with arguments and result, and failures of the model', async () => {
  await using place = await talked()
  for (const more of [[], ['-f']]) {
    const { code, out } = await place.errand('logs', '#1', ...more)
    expect(code).toBe(0)
    const lines = out.trimEnd().split('\n')
    expect(lines.slice(0, 4)).toEqual([
      'system: You are a helpful AI assistant.',
      'user: Read it',
      expect.stringMatching(/^the model failed: .*HTTP 503.* \(calling it again\)$/),
      'assistant: I look.',
    ])
    expect(lines.slice(4, 8).toSorted()).toEqual([
      'calls fs:read {"path":"note.txt"}',
      'calls fs:read {"path":"other"}',
      expect.stringMatching(/^fs:read failed: There is no file or folder other/),
      expect.stringMatching(/^fs:read returned \{"text":"the note"/),
    ])
    expect(lines.slice(8)).toEqual(['assistant: It says', 'the note.'])
  }
})

it('errand show prints the messages of a task, the calls of its agent, and the tokens', async () => {
  await using place = await talked()
  const { out } = await place.errand('show', '#1')
  const conversation = out.slice(out.indexOf('\nconversation\n') + 1)
  expect(conversation).toBe(
    [
      'conversation',
      '  system: You are a helpful AI assistant.',
      '  user: Read it',
      '  assistant: I look.',
      '    calls fs:read',
      '    calls fs:read',
      '  assistant: It says',
      '    the note.',
      '',
      '2 steps of m: 20 tokens in, 10 out',
      '',
    ].join('\n'),
  )
  const json = JSON.parse((await place.errand('show', '#1', '--json')).out)
  expect(json.usage).toEqual({ steps: 2, inputTokens: 20, outputTokens: 10, totalTokens: 30 })
  expect(json.messages.length).toBeGreaterThan(4)
})

it('errand show prints no conversation for a task without messages', async () => {
  await using place = new Workplace()
  await place.errand('add', '--run', 'true')
  expect((await place.errand('show', '#1')).out).not.toContain('conversation')
  expect(JSON.parse((await place.errand('show', '#1', '--json')).out)).not.toHaveProperty('usage')
})
