// engine:executors: the executors of the engine with the schemas of their input, so that a client can offer a form for a new task.
import { z } from 'zod'
import { schemaPair } from '../../bus/json-schema.ts'
import type { AbilityHost } from '../ability-host.ts'
import { defineOperation } from '../define-operation.ts'
import { refuseTasks } from '../own-tasks.ts'

/** Separate from engine:status, which clients read every few seconds. */
export const engineExecutors = defineOperation({
  id: 'engine:executors',
  access: 'read',
  description: 'Lists the executors of this engine, with the JSON Schema of the input that each accepts.',
  input: () => z.strictObject({}),
  output: () =>
    z.object({
      executors: z.array(
        z.object({
          name: z.string(),
          /** JSON Schema of the input; null for an executor that accepts any input, or whose schema has no JSON form. */
          inputSchema: z.record(z.string(), z.unknown()).nullable(),
        }),
      ),
    }),
  models: false,
  handle: (_input, { caller }, host) => {
    refuseTasks(caller, 'engine:executors')
    const executors = host.executors().map((name) => ({ name, inputSchema: inputSchemaOf(host, name) }))
    return { executors }
  },
})

/** One schema without a JSON form is reported, and the other executors are listed all the same. */
function inputSchemaOf(host: AbilityHost, name: string): Record<string, unknown> | null {
  const input = host.inputOf(name)
  if (input === undefined) return null
  try {
    return { ...schemaPair(input, 'input', `The input of the executor ${name}`).json() }
  } catch (error) {
    host.report(error, { doing: 'describe the input of an executor', executor: name })
    return null
  }
}
