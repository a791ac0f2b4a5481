// The abilities through which the bus describes itself, so that any surface can discover its abilities.
import { z } from 'zod'
import { ErrandError, nearestName } from '../core/errors.ts'
import { once } from '../core/once.ts'
import { type Ability, type AbilityMeta, defineAbility } from './ability.ts'
import { notFound } from './ability-error.ts'
import { accessClasses } from './caller.ts'

/** The source of the descriptions, read at each call. */
export interface AbilitySource {
  abilities(): readonly AbilityMeta[]
}

const abilityInput = once(() => z.object({ abilityId: z.string().min(1).max(200) }))
const jsonSchema = z.record(z.string(), z.unknown())
const abilitiesOutput = once(() =>
  z.object({
    moduleName: z.string(),
    abilities: z.array(z.object({ id: z.string(), name: z.string(), description: z.string(), isStream: z.boolean() })),
  }),
)
const inspectOutput = once(() =>
  z.object({
    meta: z.object({
      id: z.string(),
      moduleName: z.string(),
      abilityName: z.string(),
      description: z.string(),
      isStream: z.boolean(),
      access: z.enum(accessClasses),
      inputSchema: jsonSchema,
      outputSchema: jsonSchema,
    }),
  }),
)

/** `bus:list`, `bus:abilities`, `bus:schema` and `bus:inspect`. */
export function introspectionAbilities(source: AbilitySource): Ability[] {
  return [
    defineAbility({
      id: 'bus:list',
      access: 'read',
      description: 'List the modules on the bus, and how many abilities each has.',
      input: z.object({}),
      output: z.object({ modules: z.array(z.object({ name: z.string(), abilityCount: z.int() })) }),
      handle: () => ({ modules: countModules(source) }),
    }),
    defineAbility({
      id: 'bus:abilities',
      access: 'read',
      description: 'List the abilities of a module.',
      input: z.object({ moduleName: z.string().min(1).max(100) }),
      output: abilitiesOutput(),
      handle: ({ moduleName }) => ({ moduleName, abilities: describeModule(source, moduleName) }),
    }),
    defineAbility({
      id: 'bus:schema',
      access: 'read',
      description: 'Show the JSON Schemas of the input and the output of an ability.',
      input: abilityInput(),
      output: z.object({ inputSchema: jsonSchema, outputSchema: jsonSchema }),
      handle: ({ abilityId }) => {
        const { inputSchema, outputSchema } = requireMeta(source, abilityId)
        return { inputSchema, outputSchema }
      },
    }),
    defineAbility({
      id: 'bus:inspect',
      access: 'read',
      description: 'Show the metadata of an ability.',
      input: abilityInput(),
      output: inspectOutput(),
      handle: ({ abilityId }) => ({ meta: metaOf(requireMeta(source, abilityId)) }),
    }),
  ]
}

function countModules(source: AbilitySource): Array<{ name: string; abilityCount: number }> {
  const modules = Map.groupBy(source.abilities(), ({ moduleName }) => moduleName)
  const counts = Array.from(modules, ([name, abilities]) => ({ name, abilityCount: abilities.length }))
  return counts.sort((a, b) => (a.name < b.name ? -1 : 1))
}

function describeModule(source: AbilitySource, moduleName: string) {
  const abilities = source.abilities()
  const found = abilities.filter((ability) => ability.moduleName === moduleName)
  if (found.length > 0) {
    return found.map(({ id, abilityName, description, isStream }) => ({ id, name: abilityName, description, isStream }))
  }
  const known = new Set(abilities.map((ability) => ability.moduleName))
  const nearest = nearestName(moduleName, known)
  throw new ErrandError(
    'NOT_FOUND',
    `Module not found: ${moduleName}.${nearest ? ` Did you mean ${nearest}?` : ''} Known: ${[...known].join(', ')}.`,
    { moduleName, nearest },
  )
}

function requireMeta(source: AbilitySource, abilityId: string): AbilityMeta {
  const abilities = source.abilities()
  const found = abilities.find((ability) => ability.id === abilityId)
  if (found !== undefined) return found
  throw notFound(
    abilityId,
    abilities.map(({ id }) => id),
  )
}

/** The public metadata of an ability as plain data. */
function metaOf(ability: AbilityMeta): AbilityMeta {
  const { id, moduleName, abilityName, description, isStream, access, inputSchema, outputSchema } = ability
  return { id, moduleName, abilityName, description, isStream, access, inputSchema, outputSchema }
}
