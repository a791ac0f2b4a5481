// Abilities as the tools of a model. Tool names allow no colons, so a table maps tool names to ids and back. A tool name is never
// parsed, because two ids may be equal once their colons are replaced.
import { once } from '../core/once.ts'
import { sha256 } from '../core/sha256.ts'
import { startOf } from '../core/storable-text.ts'
import type { Ability } from './ability.ts'
import type { JsonSchema } from './json-schema.ts'
import { modelSchema } from './model-schema.ts'

/** A tool in the format of chat models. */
export interface ToolDefinition {
  type: 'function'
  function: { name: string; description: string; parameters: JsonSchema }
}

/** A one-to-one mapping between the names of tools and the ids of abilities. */
export interface ToolTable {
  /** Sorted by ability id. */
  readonly definitions: ToolDefinition[]
  /** Undefined for an unknown name. */
  abilityOf(toolName: string): string | undefined
  /** Undefined for an unknown ability. */
  nameOf(abilityId: string): string | undefined
}

/** The limit of chat models. */
const maxToolNameLength = 64
const minHashLength = 8

/**
 * The tools for some abilities. The names depend only on the set of ids and the reserved names: `:` becomes `_`; where the names of two
 * ids, or an id and a reserved name, would be equal, their own `_` are doubled; where that does not help, or the name is longer than 64
 * characters, the name ends with a hash of the id.
 */
export function toolTable(
  abilities: ReadonlyArray<Pick<Ability, 'id' | 'description' | 'modelInputSchema'>>,
  reserved: Iterable<string> = [],
): ToolTable {
  const byId = new Map(abilities.map((ability) => [ability.id, ability]))
  const sorted = [...byId.values()].sort((a, b) => (a.id < b.id ? -1 : 1))
  const names = toolNames(
    sorted.map(({ id }) => id),
    reserved,
  )
  const ids = new Map(Array.from(names, ([id, name]) => [name, id]))
  const definitions = once(() => sorted.map((ability) => toolDefinition(names.get(ability.id) as string, ability)))
  return {
    // Made when it is read: a table that only translates names needs no schemas.
    get definitions() {
      return definitions()
    },
    abilityOf: (toolName) => ids.get(toolName),
    nameOf: (abilityId) => names.get(abilityId),
  }
}

function toolDefinition(
  name: string,
  { description, modelInputSchema }: Pick<Ability, 'description' | 'modelInputSchema'>,
): ToolDefinition {
  return { type: 'function', function: { name, description, parameters: modelSchema(modelInputSchema) } }
}

function toolNames(ids: readonly string[], reserved: Iterable<string>): Map<string, string> {
  const taken = new Set(reserved)
  const names = new Map<string, string>()
  for (const spell of [plainName, doubledName]) assignUniqueNames(ids, spell, taken, names)
  for (const id of ids) {
    if (names.has(id)) continue
    const name = hashedName(id, taken)
    taken.add(name)
    names.set(id, name)
  }
  return names
}

/** Names each unnamed id whose spelling no other unnamed id shares; earlier names stay. */
function assignUniqueNames(
  ids: readonly string[],
  spell: (id: string) => string,
  taken: Set<string>,
  names: Map<string, string>,
): void {
  const open = ids.filter((id) => !names.has(id))
  const claims = new Map<string, number>()
  for (const id of open) claims.set(spell(id), (claims.get(spell(id)) ?? 0) + 1)
  for (const id of open) {
    const name = spell(id)
    if (claims.get(name) !== 1 || taken.has(name) || name.length > maxToolNameLength) continue
    taken.add(name)
    names.set(id, name)
  }
}

const plainName = (id: string) => id.replaceAll(':', '_')
const doubledName = (id: string) => id.replaceAll('_', '__').replaceAll(':', '_')

/** Ends with the first eight digits of the id's hash, and with more of them only after a collision. */
function hashedName(id: string, taken: ReadonlySet<string>): string {
  const digits = sha256(id)
  for (let length = minHashLength; ; length++) {
    const suffix = `_${digits.slice(0, length)}`
    const name = `${startOf(plainName(id), maxToolNameLength - suffix.length)}${suffix}`
    if (!taken.has(name) || length >= maxToolNameLength) return name
  }
}
