// An agent that distributes its work: it gets a question about a folder of notes, creates a subtask for each note, waits for them,
// and answers. After a crash, the next start continues: the key identifies the question.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { createEngine, fileAbilities, type LanguageModelLike } from 'errand'
import { createScriptedModel, parseScript } from 'errand/testing'

const here = import.meta.dirname
const question =
  'Should the library move? Read the notes in this folder, each by a subtask of its own, and answer with reasons.'

const { values } = parseArgs({
  options: {
    model: { type: 'string', default: `script:${join(here, 'script.yaml')}` },
    'base-url': { type: 'string', default: 'http://127.0.0.1:11434/v1' },
    ledger: { type: 'string', default: ':memory:' },
    notes: { type: 'string', default: join(here, 'notes') },
  },
})

/** `script:FILE` plays a prepared script; any other name is a model of the server at `--base-url`. */
async function modelOf(name: string): Promise<LanguageModelLike> {
  if (name.startsWith('script:')) {
    const file = name.slice('script:'.length)
    return createScriptedModel(parseScript(await readFile(file, 'utf8'), file))
  }
  const apiKey = process.env['API_KEY']
  const server = createOpenAICompatible({
    name: 'server',
    baseURL: values['base-url'],
    includeUsage: true,
    ...(apiKey === undefined ? {} : { apiKey }),
  })
  return server(name)
}

await using engine = await createEngine({
  ledger: values.ledger,
  model: await modelOf(values.model),
  abilities: fileAbilities(values.notes),
})
const task = await engine.create({ goal: question, key: question })

for await (const item of engine.stream(task.id)) {
  if (item.type === 'tool_call') console.error(`· ${item.tool} ${JSON.stringify(item.args)}`)
  if (item.type === 'error') console.error(`· ${item.error.message}`)
}
const outcome = await engine.settled(task)
if (outcome.status === 'completed') console.log(outcome.result)
else process.exitCode = 1
