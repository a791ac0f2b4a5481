// Writes tables of the documents from the definitions in the source: `npm run reference`. A page marks the place of each table by its
// name, and keeps its own text around it. test/reference.test.ts fails when a page differs from what its definitions give.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { createScriptedModel } from '../src/agents/models/scripted-model.ts'
import { fileAbilities } from '../src/commands/files/file-abilities.ts'
import { commandAbilities } from '../src/commands/operations/command-abilities.ts'
import { type ErrorCode, errorCodes, httpErrorCodes, statusOfCode } from '../src/core/error-codes.ts'
import { ErrandError } from '../src/core/errors.ts'
import { once } from '../src/core/once.ts'
import { createEngine } from '../src/engine/create-engine.ts'
import { eventKinds } from '../src/entities/event.ts'
import { executorOptionsSchema } from '../src/entities/executor.ts'
import { engineOptionsSchema, memoryOptionsSchema } from '../src/entities/options.ts'
import { type FieldTaker, fieldTakers, taskFields } from '../src/entities/task-fields.ts'
import { planAskSchema, planRetrySchema, planSchema, planTaskSchema } from '../src/plans/plan-schema.ts'
import { exitCodeOf } from '../src/surfaces/terminal/exit-code.ts'

import { commandTables } from './reference/commands.ts'
import { routeTables } from './reference/routes.ts'
import { code, table } from './reference/table.ts'

const root = join(import.meta.dirname, '..')
/** The tables by the names with which pages mark their places. */
const tables = {
  errors: () => sectionsOf(errorCodes),
  'errors over HTTP': () => sectionsOf(httpErrorCodes),
  events: () =>
    table(
      ['event', 'when', '`data`'],
      Object.entries(eventKinds).map(([type, { meaning, details }]) => [code(type), meaning, details]),
    ),
  'items of a stream': streamTable,
  commands: commandTables,
  abilities: abilityTables,
  routes: routeTables,
  'task fields': taskFieldTable,
  'options of createEngine': () =>
    optionTable('src/engine/engine-api.ts', 'interface EngineOptions', engineOptionsSchema().shape),
  'options of memory': () =>
    optionTable('src/engine/engine-api.ts', 'interface MemoryOptions', memoryOptionsSchema().shape),
  'options of executors': () =>
    optionTable('src/entities/executor.ts', 'interface ExecutorDefinition', executorOptionsSchema().shape),
  'options of agents': () => optionTable('src/agents/loop/agent.ts', 'interface AgentOptions'),
  'options of calls': () => optionTable('src/entities/call-options.ts', 'interface CallOptions'),
  'context of calls': () => optionTable('src/entities/call-options.ts', 'interface CallContext'),
  'retry policy': () =>
    table(
      ['field', 'meaning'],
      retryMembers().map(({ name, meaning }) => [code(name), meaning]),
    ),
  'keys of a plan': () => keyTable(planSchema.shape),
  'keys of a task': () => keyTable(planTaskSchema.shape),
  'keys of a question': () => keyTable(planAskSchema.shape),
  'keys of a retry policy': () => keyTable(planRetrySchema.shape),
} satisfies Record<string, () => string | Promise<string>>

const marked = /(<!-- reference: (.+?) -->\n)[\s\S]*?(<!-- end of reference -->)/g

/** The text of a page with its tables as the definitions give them now. */
export async function withTables(text: string): Promise<string> {
  const made = new Map<string, string>()
  for (const [, , name = ''] of text.matchAll(marked)) {
    const make = (tables as Record<string, () => string | Promise<string>>)[name]
    if (make === undefined) throw new Error(`There is no table "${name}". Tables: ${Object.keys(tables).join(', ')}.`)
    made.set(name, await make())
  }
  return text.replaceAll(
    marked,
    (_, begin: string, name: string, end: string) => `${begin}\n${made.get(name)}\n\n${end}`,
  )
}

/** The pages that have tables, by their paths in the repository. */
export function pagesWithTables(): string[] {
  const folders = ['start', 'guides', 'reference', 'understand'].map((name) => `docs/${name}`)
  const pages = folders.flatMap((folder) => readdirSync(join(root, folder)).map((name) => `${folder}/${name}`))
  return pages.filter(
    (page) => page.endsWith('.md') && readFileSync(join(root, page), 'utf8').includes('<!-- reference:'),
  )
}

/** A heading for each code, so that a search finds it and a link leads to it. */
function sectionsOf(codes: Readonly<Record<string, { cause: string; remedy: string }>>): string {
  const sections = Object.entries(codes).map(([name, { cause, remedy }]) => {
    const status = `HTTP ${statusOfCode[name as keyof typeof statusOfCode]}`
    const exit = name in errorCodes ? `, exit code ${exitCodeOf(new ErrandError(name as ErrorCode, cause))}` : ''
    return `### ${name}\n\n${cause} *${status}${exit}.*\n\n**Remedy:** ${remedy}`
  })
  return sections.join('\n\n')
}

interface Member {
  name: string
  type: string
  meaning: string
}

/** The members of an interface, or of an object with schemas, with their documentation. They are indented by two spaces. */
function membersOf(file: string, opening: string): Member[] {
  const source = readFileSync(join(root, file), 'utf8')
  const begin = source.indexOf(opening)
  if (begin === -1) throw new Error(`${file} has no "${opening}".`)
  const body = source.slice(source.indexOf('{\n', begin), source.indexOf('\n}', begin))
  const members = body.matchAll(/\n {2}\/\*\*([\s\S]*?)\*\/\n {2}(\w+)\??: ?(.*(?:\n {3,}.*)*)/g)
  return Array.from(members, ([, comment = '', name = '', type = '']) => ({
    name,
    type: type.replaceAll(/\s+/g, ' ').replace(/,$/, ''),
    meaning: plain(comment),
  }))
}

/** The text of a comment, without its stars. */
function plain(comment: string): string {
  const lines = comment.replaceAll(/\n\s+\*( |$)/gm, ' ')
  return lines.replaceAll(/\s+/g, ' ').trim()
}

/** The default that the schema sets; the text of an option says what holds without one. */
function optionTable(file: string, opening: string, shape: z.core.$ZodShape = {}): string {
  const members = membersOf(file, opening)
  const undocumented = Object.keys(shape).filter((name) => !members.some((member) => member.name === name))
  if (undocumented.length > 0) throw new Error(`${file} does not document ${undocumented.join(', ')}.`)
  const rows = members.map(({ name, type, meaning }) => {
    const given = shape[name] === undefined ? undefined : z.safeParse(shape[name], undefined).data
    const isWord = typeof given === 'string' || typeof given === 'number' || typeof given === 'boolean'
    const text = isWord ? meaning.replace(/ Default:? [^.]*\.$/, '') : meaning
    return [code(name), code(type), isWord ? code(String(given)) : '', text]
  })
  return table(['option', 'type', 'default', 'meaning'], rows)
}

const retryMembers = once(() => membersOf('src/entities/task-fields.ts', 'const retryShape'))

function keyTable(shape: Readonly<Record<string, z.ZodType>>): string {
  const rows = Object.entries(shape).map(([name, schema]) => {
    const inner = schema instanceof z.ZodOptional ? (schema.unwrap() as z.ZodType).description : undefined
    const meaning = schema.description ?? inner ?? retryMembers().find((member) => member.name === name)?.meaning
    if (meaning === undefined) throw new Error(`The key "${name}" of a plan has no description.`)
    return [code(name), meaning]
  })
  return table(['key', 'meaning'], rows)
}

function taskFieldTable(): string {
  const titles: Record<FieldTaker, string> = {
    create: '`create`',
    update: '`update`',
    plans: 'plans',
    add: '`errand add`',
    board: 'the board',
    models: 'models',
  }
  const rows = Object.entries(taskFields).map(([name, { schema, by }]) => {
    const takes = fieldTakers.map((taker) => ((by as readonly string[]).includes(taker) ? 'yes' : ''))
    return [code(name), schema.description ?? '', ...takes]
  })
  return table(['field', 'meaning', ...Object.values(titles)], rows)
}

function streamTable(): string {
  const source = readFileSync(join(root, 'src/entities/views.ts'), 'utf8')
  const items = source.matchAll(/\/\*\*((?:(?!\*\/)[\s\S])*)\*\/[\s(]+\| \{ type: '(\w+)'; (.*) \}/g)
  const rows = Array.from(items, ([, comment = '', name = '', fields = '']) => [
    code(name),
    plain(comment),
    code(fields.replaceAll('; ', ', ')),
  ])
  return table(['`type`', 'when', 'its fields'], rows)
}

/** All that an engine can have on its bus. */
async function abilityTables(): Promise<string> {
  await using engine = await createEngine({
    work: false,
    model: createScriptedModel([{ text: 'Hello.' }]),
    embeddingModel: {
      specificationVersion: 'v4',
      provider: 'none',
      modelId: 'none',
      doEmbed: async () => ({ embeddings: [] }),
    },
    plans: { root: tmpdir() },
    abilities: [...fileAbilities(tmpdir()), ...commandAbilities(tmpdir())],
  })
  const modules = Map.groupBy(engine.bus.abilities(), ({ moduleName }) => moduleName)
  const parts = Array.from(modules, ([name, abilities]) => {
    const rows = abilities.map(({ id, access, models, isStream, description }) => [
      code(id),
      access,
      models ? 'yes' : '',
      `${description}${isStream ? ' A stream.' : ''}`,
    ])
    return `### ${name}\n\n${table(['ability', 'access', 'models', 'what it does'], rows)}`
  })
  return parts.join('\n\n')
}

if (import.meta.main) {
  for (const page of pagesWithTables()) {
    const path = join(root, page)
    writeFileSync(path, await withTables(readFileSync(path, 'utf8')))
  }
}
