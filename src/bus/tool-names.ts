// Abilities as the tools of a model. Models allow no colons in names, so a table leads from one name to the other and back;
// nobody ever takes a tool's name apart, because two ids may look alike once their colons are gone.
import { hash } from 'node:crypto'
import type { Ability } from './ability.ts'
import type { JsonSchema } from './json-schema.ts'

/** A tool as chat models take it. */
export interface ToolDefinition {
  type: 'function'
  function: { name: string; description: string; parameters: JsonSchema }
}

/** Both ways between the names of tools and the ids of abilities, one to one. */
export interface ToolTable {
  /** Sorted by ability id. */
  definitions: ToolDefinition[]
  /** Undefined for a name that no ability here has. */
  abilityOf(toolName: string): string | undefined
  /** Undefined for an ability that is not here. */
  nameOf(abilityId: string): string | undefined
}

/** What chat models allow at most. */
const maxToolNameLength = 64
const minHashLength = 8

/**
 * The tools for some abilities. The names depend only on the set of ids and the reserved names: `:` becomes `_`; where two ids
 * would come to the same, or to a reserved name, their own `_` are doubled; where that does not help, or is longer than 64
 * characters, a hash of the id ends the name.
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
  return {
    definitions: sorted.map((ability) => toolDefinition(names.get(ability.id) as string, ability)),
    abilityOf: (toolName) => ids.get(toolName),
    nameOf: (abilityId) => names.get(abilityId),
  }
}

/** The parameters of a tool are an object: where the schema leaves it open, it is said. */
function toolDefinition(
  name: string,
  { description, modelInputSchema }: Pick<Ability, 'description' | 'modelInputSchema'>,
): ToolDefinition {
  const { $schema: _dialect, ...rest } = modelInputSchema
  return { type: 'function', function: { name, description, parameters: { type: 'object', ...rest } } }
}

function toolNames(ids: readonly string[], reserved: Iterable<string>): Map<string, string> {
  const taken = new Set(reserved)
  const names = new Map<string, string>()
  for (const spell of [plainName, doubledName]) nameWhatIsAlone(ids, spell, taken, names)
  for (const id of ids) {
    if (names.has(id)) continue
    const name = hashedName(id, taken)
    taken.add(name)
    names.set(id, name)
  }
  return names
}

/** Names each id that has no name yet and whose spelling no other such id shares; names given earlier stay. */
function nameWhatIsAlone(
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

/** Ends in as much of the id's hash as it takes to be free: eight digits, and more only after a collision. */
function hashedName(id: string, taken: ReadonlySet<string>): string {
  const digits = hash('sha256', id)
  for (let length = minHashLength; ; length++) {
    const suffix = `_${digits.slice(0, length)}`
    const name = `${plainName(id).slice(0, maxToolNameLength - suffix.length)}${suffix}`
    if (!taken.has(name) || length >= maxToolNameLength) return name
  }
}
