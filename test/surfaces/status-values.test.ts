// The status of a task is one of the eight states everywhere: in the outputs of abilities (which HTTP, MCP, the REPL and the page serve),
// in the OpenAPI document, and in events; status-values-json.test.ts checks the command line. Boards have words of their own; calls, runs,
// objectives, branches and stints have states of their own.
import { expect, it } from 'vitest'
import type { JsonSchema } from '../../src/bus/json-schema.ts'
import { callStatuses } from '../../src/entities/call.ts'
import type { ExecutorTask, Run } from '../../src/entities/executor.ts'
import { branchStatuses } from '../../src/entities/memory.ts'
import { runStatuses } from '../../src/entities/run.ts'
import { openStatuses, settledStatuses, taskStatuses } from '../../src/entities/task.ts'
import { objectiveStatuses } from '../../src/entities/team.ts'
import { createHttp } from '../../src/surfaces/http/index.ts'
import { history, openEngine, reached, waysTo } from '../engine/world.ts'

interface Shown {
  /** Its path in the output. */
  path: string
  words: string[]
}

/** Every enumeration below a key that names a status, at any depth. */
function statusesIn(schema: unknown, path = ''): Shown[] {
  if (typeof schema !== 'object' || schema === null) return []
  const found: Shown[] = []
  for (const [key, value] of Object.entries(schema)) {
    const words = (value as JsonSchema | null)?.['enum'] ?? oneOf(value)
    if (/status|^from$/i.test(key) && Array.isArray(words))
      found.push({ path: `${path}.${key}`, words: words as string[] })
    found.push(...statusesIn(value, `${path}.${key}`))
  }
  return found
}

function oneOf(schema: unknown): unknown {
  const parts = (schema as { anyOf?: JsonSchema[] } | null)?.anyOf
  return parts?.map((part) => part['enum']).find((words) => words !== undefined)
}

const sorted = (words: readonly string[]) => [...words].sort().join(' ')
/** The allowed enumerations for the status of a task: all states, or those that can occur there. */
const ofTasks = [taskStatuses, settledStatuses, openStatuses, [...settledStatuses, 'open']].map(sorted)
const ofOthers = [
  callStatuses,
  objectiveStatuses,
  branchStatuses,
  ['active', 'completed'],
  ['active', 'superseded'],
  runStatuses,
].map(sorted)

it('the status of a task is one of the eight states in the output of every ability, except for boards', async () => {
  const engine = await openEngine({ executors: { work: () => 1 } })
  const seen = engine.bus
    .abilities()
    .filter(({ moduleName }) => moduleName !== 'board')
    .flatMap(({ id, outputSchema }) => statusesIn(outputSchema, id))
  expect(seen.length).toBeGreaterThan(20)
  expect(seen.filter(({ words }) => ![...ofTasks, ...ofOthers].includes(sorted(words)))).toEqual([])
  expect(seen.filter(({ path }) => /canonicalStatus|previousStatus/.test(path))).toEqual([])
})

it('the test of statuses finds a status of another vocabulary', () => {
  const faulty = { properties: { task: { properties: { status: { enum: ['pending', 'running', 'killed'] } } } } }
  const [found] = statusesIn(faulty)
  expect(found).toEqual({ path: '.properties.task.properties.status', words: ['pending', 'running', 'killed'] })
  expect([...ofTasks, ...ofOthers]).not.toContain(sorted(found?.words ?? []))
})

it('the status of a task is one of the eight states in every event', async () => {
  const engine = await openEngine({
    executors: {
      asks: (_task: ExecutorTask, run: Run) => run.ask('Go?', { type: 'boolean' }),
      fails: () => Promise.reject(new Error('broke')),
    },
  })
  for (const status of taskStatuses) {
    const task = await engine.create({ name: status })
    for (const next of waysTo[status]) await engine.update(task, { status: next })
  }
  await reached(engine, await engine.create({ executor: 'asks' }), 'input_required')
  await reached(engine, await engine.create({ executor: 'fails' }), 'failed')
  const inEvents = (await history(engine)).flatMap(({ type, data }) =>
    (['status', 'from'] as const).flatMap((key) => (typeof data[key] === 'string' ? [[type, key, data[key]]] : [])),
  )
  expect(inEvents.length).toBeGreaterThan(20)
  expect(inEvents.filter(([, , word]) => !(taskStatuses as readonly unknown[]).includes(word))).toEqual([])
})

it('the status of a task is one of the eight states in the response of every route, except for boards', async () => {
  const engine = await openEngine({ executors: { work: () => 1 } })
  const { components } = createHttp(engine, { token: 'a-token-of-32-characters-or-more' }).openapi()
  const schemas = Object.entries(components.schemas)
  const seen = schemas
    .filter(([name]) => !/board|Input$/i.test(name))
    .flatMap(([name, schema]) => statusesIn(schema, name))
  expect(seen.length).toBeGreaterThan(20)
  expect(seen.filter(({ words }) => ![...ofTasks, ...ofOthers].includes(sorted(words)))).toEqual([])
})
