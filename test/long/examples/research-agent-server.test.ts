// The example in examples/research-agent with a model on a server instead of the script.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { type FakeTurn, type PlayTurn, startFakeOpenAi } from '../../agents/models/fake-openai-server.ts'

const folder = join(import.meta.dirname, '../../../examples/research-agent')

interface WireMessage {
  role: string
  content: string
}

const noteOf = (goal: string) => /Read (\w+\.md)/.exec(goal)?.[1]

/** The answers of a model that distributes the notes, derived from its conversation. */
const researcher: PlayTurn = ({ body }) => {
  const { messages } = body as { messages: WireMessage[] }
  const goal = messages.find(({ role }) => role === 'user')?.content ?? ''
  const taken = messages.filter(({ role }) => role === 'assistant').length
  const note = noteOf(goal)
  const turns: FakeTurn[] =
    note === undefined
      ? [
          {
            toolCalls: ['budget.md', 'building.md', 'readers.md'].map((file) => ({
              name: 'task_create',
              arguments: { goal: `Read ${file} and sum it up.` },
            })),
          },
          { toolCalls: [{ name: 'wait_for_tasks', arguments: {} }] },
          { text: ['Three notes ', 'were read.'] },
        ]
      : [{ toolCalls: [{ name: 'fs_read', arguments: { path: note } }] }, { text: `${note} is summed up.` }]
  return turns[taken]
}

it('the research agent runs with a model on a server: three subtasks read the notes, and it receives their answers', async () => {
  await using server = await startFakeOpenAi(researcher)
  const args = [join(folder, 'index.ts'), '--model', 'small', '--base-url', server.baseURL]
  const env = { ...process.env, API_KEY: 'sk-of-this-test' }
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { cwd: folder, env })
  expect(stdout).toBe('Three notes were read.\n')
  expect(stderr.match(/· task:create/g)).toHaveLength(3)
  expect(server.unplanned).toBe(0)
  expect(server.requests).toHaveLength(3 + 3 * 2)
  const { headers, body } = server.requests.at(-1) ?? { headers: {}, body: {} }
  expect(headers.authorization).toBe('Bearer sk-of-this-test')
  const read = (body as { messages: WireMessage[] }).messages.at(-1)?.content ?? ''
  for (const file of ['budget.md', 'building.md', 'readers.md']) expect(read).toContain(`${file} is summed up.`)
})
