// `errand send`: a message for a task, from a process that runs no tasks.
import { expect, it } from 'vitest'
import { startFakeOpenAi } from '../../agents/models/fake-openai-server.ts'
import { call } from './agent-workplace.ts'
import { Workplace } from './workplace.ts'

const asks = `
- tools: [{ name: ask_user, input: { question: "Which?" } }]
- when: { last: also }
  text: "That too."
- text: "Done."
`

async function asking(): Promise<Workplace> {
  const place = new Workplace()
  place.write('script.yaml', asks)
  await place.errand('ask', 'Choose', '--model', 'script:script.yaml', '--key', 'k')
  return place
}
const goOn = ['ask', 'Choose', '--model', 'script:script.yaml', '--key', 'k']

it('errand send answers an open question that accepts a text, and runs nothing', async () => {
  await using place = await asking()
  const { code, out } = await place.errand('send', '#1', 'this one')
  expect({ code, out }).toEqual({ code: 0, out: '#1 Choose queued, message sent\n' })
  expect((await place.tasks())[0]?.status).not.toBe('completed')
  expect(await place.errand(...goOn)).toMatchObject({ code: 0, out: 'Done.\n' })
})

it('errand send reads the message from a pipe; --follow-up holds it until the agent would end', async () => {
  await using place = await asking()
  expect(await call(place, ['send', '#1', '--follow-up'], { stdin: 'also the other\n' }).ended).toMatchObject({
    code: 0,
  })
  expect((await place.tasks())[0]?.status).toBe('input_required')
  await place.errand('answer', '#1', 'this')
  expect((await place.errand(...goOn)).out).toBe('Done.\nThat too.\n')
})

it('errand send --abort pauses a task of another process, which reads the message when it is resumed', async () => {
  await using place = new Workplace()
  await using fake = await startFakeOpenAi([{ text: 'begun', ending: 'hang' }, { text: 'changed' }])
  const env = { LOCAL_BASE_URL: fake.baseURL }
  const args = ['ask', 'Choose', '--model', 'local:m', '--key', 'k']
  const asked = call(place, args, { env })
  await asked.printed(/begun/)
  expect((await place.errand('send', '#1', 'not that', '--abort', '--json')).out).toContain('"status":"paused"')
  const paused = await asked.ended
  expect(paused.code).toBe(3)
  expect(paused.err).toMatch(/‖ #1 Choose is paused\n +errand resume/)
  await place.errand('resume', '#1')
  expect(await call(place, args, { env }).ended).toMatchObject({ code: 0, out: 'changed\n' })
  expect(fake.requests[1]?.body.messages.at(-1)).toEqual({ role: 'user', content: 'Choose\n\nnot that' })
})

it('errand send refuses a failed task unless --retry gives it a new attempt', async () => {
  await using place = new Workplace()
  place.write('script.yaml', '- error: { status: 400 }\n- text: never')
  expect((await place.errand(...goOn)).code).toBe(1)
  expect(await place.errand('send', '#1', 'again')).toMatchObject({ code: 2 })
  expect(await place.errand('send', '#1', 'again', '--retry')).toMatchObject({
    code: 0,
    out: '#1 Choose queued, message sent\n',
  })
})

it('errand send refuses an unknown task, an empty or missing message, and two delivery modes', async () => {
  await using place = await asking()
  expect((await place.errand('send', '#9', 'x')).code).toBe(2)
  expect((await place.errand('send', '#1', '  ')).err).toContain('The message is empty')
  expect((await place.errand('send', '#1')).err).toContain('The message is missing')
  expect((await place.errand('send', '#1', 'x', '--abort', '--follow-up')).code).toBe(2)
})
