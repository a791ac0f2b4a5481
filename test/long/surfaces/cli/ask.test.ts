// `errand ask` over a kill.
import { expect, it, onTestFinished } from 'vitest'
import { type FakeTurn, startFakeOpenAi } from '../../../agents/models/fake-openai-server.ts'
import { Workplace } from '../../../surfaces/cli/workplace.ts'

async function server(turns: FakeTurn[]) {
  const fake = await startFakeOpenAi(turns)
  onTestFinished(() => fake.close())
  return { fake, env: { LOCAL_BASE_URL: fake.baseURL } }
}

it('errand ask continues after kill -9 in the middle of a step, and calls the model for nothing twice', async () => {
  await using place = new Workplace()
  place.write('note.txt', 'the note\n')
  const { fake, env } = await server([
    { text: 'I look.', toolCalls: [{ name: 'fs_read', arguments: { path: 'note.txt' } }] },
    { text: 'half of it', ending: 'hang' },
    { text: 'It says: the note.' },
  ])
  const args = ['ask', 'Read it', '--model', 'local:m', '--files', '.', '--key', 'read']
  process.env['LOCAL_BASE_URL'] = env.LOCAL_BASE_URL
  onTestFinished(() => void delete process.env['LOCAL_BASE_URL'])
  await using other = new Workplace()
  other.write('note.txt', 'the note\n')
  const first = other.start(...args)
  await first.printed(/half of it/)
  first.kill('SIGKILL')
  await first.ended
  const second = await other.start(...args).ended
  expect(second).toMatchObject({ code: 0, out: 'I look.\nIt says: the note.\n' })
  expect(fake.requests).toHaveLength(3)
  expect(fake.requests[2]?.body.messages).toEqual(fake.requests[1]?.body.messages)
})
