// Abilities whose handler takes and returns JSON text. They are checked by schemas like all others.
import { z } from 'zod'
import { ErrandError } from '../core/errors.ts'
import { once } from '../core/once.ts'
import { parse, requireFunction } from '../core/parse.ts'
import { abilityIdSchema } from '../entities/ability-pattern.ts'
import { type Ability, defineAbility } from './ability.ts'
import type { AbilityContext } from './ability-context.ts'
import { type Access, accessClasses } from './caller.ts'
import { requireChunks } from './chunks.ts'
import { type AbilitySchema, abilitySchemaSchema } from './json-schema.ts'

/** The metadata of such an ability. The names derive from the id and may be left out. */
export interface JsonAbilityMeta {
  id: string
  moduleName?: string
  abilityName?: string
  description: string
  /** True: the handler returns chunks. Default false. */
  isStream?: boolean
  /** The scope that a caller needs. Default `admin`. */
  access?: Access
  inputSchema: AbilitySchema
  outputSchema: AbilitySchema
}

/** Takes and returns JSON text; a stream yields one text per chunk. */
export type JsonHandler = (json: string, context: AbilityContext) => Promise<string> | string | AsyncIterable<string>

const metaSchema = once(() =>
  z
    .strictObject({
      id: abilityIdSchema,
      moduleName: z.string().optional(),
      abilityName: z.string().optional(),
      description: z.string(),
      isStream: z.boolean().default(false),
      access: z.enum(accessClasses).default('admin'),
      inputSchema: abilitySchemaSchema,
      outputSchema: abilitySchemaSchema,
    })
    .refine(({ id, moduleName }) => moduleName === undefined || moduleName === id.slice(0, id.indexOf(':')), {
      path: ['moduleName'],
      message: 'expected the part of the id before its first colon',
    })
    .refine(({ id, abilityName }) => abilityName === undefined || abilityName === id.slice(id.indexOf(':') + 1), {
      path: ['abilityName'],
      message: 'expected the part of the id after its first colon',
    }),
)

/**
 * The ability of a handler that takes and returns JSON text.
 * @throws ErrandError UNKNOWN_OPTION, INVALID_INPUT { issues }
 */
export function jsonAbility(meta: JsonAbilityMeta, handler: JsonHandler): Ability {
  const { id, description, isStream, access, inputSchema, outputSchema } = parse(metaSchema, meta, 'register')
  requireFunction(handler, `the handler of ${id}`)
  const definition = { id, description, access, input: inputSchema, output: outputSchema }
  if (!isStream) {
    return defineAbility({
      ...definition,
      handle: async (input, context) => readOutput(await handler(JSON.stringify(input), context), id),
    })
  }
  return defineAbility({
    ...definition,
    async *stream(input: unknown, context: AbilityContext) {
      const chunks = handler(JSON.stringify(input), context)
      const who = `The handler of the stream ability ${id}`
      for await (const chunk of requireChunks(chunks, who, id)) yield readOutput(chunk, id)
    },
  })
}

function readOutput(text: unknown, abilityId: string): unknown {
  try {
    return JSON.parse(text as string) as unknown
  } catch (error) {
    throw new ErrandError(
      'EXECUTION_ERROR',
      `The handler of ${abilityId} returned text that is not JSON: ${(error as Error).message}`,
      { abilityId },
      error,
    )
  }
}
