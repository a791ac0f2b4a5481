// Converts the schemas of abilities to components of an OpenAPI document. Nested definitions become components of their own, so that
// client generators give equal things equal names.
import type { Ability } from '../../bus/ability.ts'
import { hasField, type JsonSchema, propertiesOf } from '../../bus/json-schema.ts'

export interface NamedAbility {
  ability: Ability
  /** `TaskCreate` for `task:create`. If two names differ only in case, the later one gets a number. */
  name: string
}

/** By id, in the given order. */
export function namedAbilities(abilities: readonly Ability[]): Map<string, NamedAbility> {
  const used = new Set<string>()
  const unique = (name: string): string => {
    let free = name
    for (let count = 2; used.has(free.toLowerCase()); count++) free = `${name}${count}`
    used.add(free.toLowerCase())
    return free
  }
  return new Map(abilities.map((ability) => [ability.id, { ability, name: unique(pascalCase(ability.id)) }]))
}

function pascalCase(id: string): string {
  return id.replace(/(?:^|[^A-Za-z0-9])+([A-Za-z0-9]?)/g, (_, letter: string) => letter.toUpperCase())
}

export function addComponent(components: Record<string, unknown>, name: string, schema: JsonSchema): void {
  const { $defs, ...own } = schema as { $defs?: Record<string, JsonSchema> }
  components[name] = rewritten(own, name)
  for (const [key, definition] of Object.entries($defs ?? {}))
    components[definedName(name, key)] = rewritten(definition, name)
}

/** The schema of an input without the fields that are in the path. */
export function withoutFields(
  schema: JsonSchema,
  fields: readonly string[],
  component: string,
): Record<string, unknown> {
  const {
    $defs: _defs,
    properties = {},
    required = [],
    ...rest
  } = schema as { $defs?: unknown; properties?: Record<string, unknown>; required?: string[] }
  const left = required.filter((name) => !fields.includes(name))
  const own = {
    ...rest,
    properties: Object.fromEntries(Object.entries(properties).filter(([name]) => !fields.includes(name))),
    ...(left.length === 0 ? {} : { required: left }),
  }
  return rewritten(own, component) as Record<string, unknown>
}

export function fieldOf(schema: JsonSchema, field: string, component: string): Record<string, unknown> {
  const own = hasField(schema, field) ? propertiesOf(schema)[field] : { type: 'string' }
  return rewritten(own, component) as Record<string, unknown>
}

export function referenceTo(component: string): { $ref: string } {
  return { $ref: `#/components/schemas/${component}` }
}

/** Rewrites references to the document, and drops keywords that are only valid at the root of a schema. */
function rewritten(value: unknown, component: string): unknown {
  if (Array.isArray(value)) return value.map((each) => rewritten(each, component))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([key]) => key !== '$schema' && key !== '$id')
  return Object.fromEntries(
    entries.map(([key, inner]) => [
      key,
      key === '$ref' && typeof inner === 'string' ? toReference(inner, component) : rewritten(inner, component),
    ]),
  )
}

function toReference(reference: string, component: string): string {
  const defined = /^#\/\$defs\/([^/]+)$/.exec(reference)?.[1]
  if (defined !== undefined) return referenceTo(definedName(component, defined)).$ref
  return reference.startsWith('#') ? `${referenceTo(component).$ref}${reference.slice(1)}` : reference
}

function definedName(component: string, definition: string): string {
  const name = definition.replace(/[^A-Za-z0-9.-]+/g, '')
  return `${component}.${name}`
}
