// The ids of abilities and patterns of ids: their syntax, and which pattern matches which id.
import { z } from 'zod'
import { parse } from '../core/parse.ts'

const part = '[A-Za-z0-9_-]+'

export const maxAbilityIdLength = 100

/** `module:name`, up to four parts. */
export const abilityIdSchema = z
  .string()
  .max(maxAbilityIdLength)
  .regex(
    new RegExp(`^${part}(?::${part}){1,3}$`),
    'expected an id like `module:name`: two to four parts of letters, digits, `_` and `-`, joined by colons',
  )

/** An entry of a list of abilities: an id, `module:*` for a module, `module:sub:*` for a part of one, `*` for all. */
const abilityPatternSchema = z
  .string()
  .max(maxAbilityIdLength + 2)
  .regex(
    new RegExp(`^(?:\\*|${part}(?::${part}){0,3}(?::\\*)?)$`),
    'expected the id of an ability, a pattern like `module:*`, or `*`',
  )
  .refine((pattern) => pattern === '*' || pattern.includes(':'), 'a module is written `module:*`')

/** A list of abilities: at most 1000 ids and patterns. */
export const abilityListSchema = z.array(abilityPatternSchema).max(1000)

/**
 * Validates a list of abilities from outside.
 * @throws ErrandError INVALID_INPUT { issues }
 */
export function checkAbilityList(list: unknown, what = 'The list of abilities'): string[] {
  return parse(abilityListSchema, list, what)
}

/** True when one of the patterns matches the id. */
export function listAllows(list: readonly string[], abilityId: string): boolean {
  return list.some(
    (pattern) =>
      pattern === '*' ||
      pattern === abilityId ||
      (pattern.endsWith(':*') && abilityId.startsWith(pattern.slice(0, -1))),
  )
}
