// Parses the keys of a file that the board can store. Ids may be numbers or text; null counts as absent.
import { z } from 'zod'
import { anyJsonObject, parse } from '../../core/parse.ts'
import { type BoardRef, boardRefSchema, boardStatuses } from '../../entities/board.ts'
import { taskFields } from '../../entities/task-fields.ts'
import { numberOf } from '../task-ref.ts'
import type { FileValue } from './task-file.ts'

const { name: subject, priority, role, tags } = taskFields

/** `3`, `"3"` and `"#3"` refer to the same task. */
const reference = boardRefSchema.transform((ref): BoardRef => numberOf(ref) ?? ref)
const references = z
  .array(reference)
  .max(10_000)
  .nullish()
  .transform((refs): BoardRef[] => [...new Set(refs ?? [])])

/** The seven keys. All but the subject may be missing. */
const seven = {
  subject: subject.schema,
  description: z
    .string()
    .nullish()
    .transform((text) => text ?? ''),
  status: z.enum(boardStatuses),
  blockedBy: references,
  blocks: references,
  owner: z
    .string()
    .trim()
    .max(100)
    .nullish()
    .transform((name) => name ?? ''),
}
const further = {
  activeForm: z.string().max(1_000),
  priority: priority.schema,
  metadata: anyJsonObject(),
  role: role.schema,
  tags: tags.schema,
  parent: reference,
  workspace: z.string().trim().min(1).max(4_096),
}

const sevenSchema = z.object({ ...seven, status: seven.status.default('pending') })
/** Of an edit only the changed keys are parsed: the mirror itself wrote the rest. */
const editSchema = z.object({
  ...Object.fromEntries(Object.entries(further).map(([key, schema]) => [key, schema.nullish()])),
  ...z.object(seven).partial().shape,
}) as unknown as z.ZodType<EditedKeys>

export type SevenKeys = z.output<typeof sevenSchema>
export type FurtherKeys = { [Key in keyof typeof further]?: z.output<(typeof further)[Key]> }
export type EditedKeys = { [Key in keyof SevenKeys]?: SevenKeys[Key] } & {
  [Key in keyof FurtherKeys]?: FurtherKeys[Key] | null
}

/** @throws ErrandError INVALID_INPUT for an invalid value of one of the seven keys. */
export function parseSeven(value: FileValue): SevenKeys {
  return parse(sevenSchema as z.ZodType<SevenKeys>, value, 'the file')
}

/** @throws ErrandError INVALID_INPUT */
export function parseEdited(changed: FileValue): EditedKeys {
  return parse(editSchema, changed, 'the edit')
}

/** Returns the optional keys with valid values, and the names of those with others: other tools use other types, such as a priority "high". */
export function readFurther(value: FileValue): { held: FurtherKeys; unheld: string[] } {
  const held: Record<string, unknown> = {}
  const unheld: string[] = []
  for (const [key, schema] of Object.entries(further)) {
    if (value[key] === undefined || value[key] === null) continue
    const parsed = schema.safeParse(value[key])
    if (parsed.success) held[key] = parsed.data
    else unheld.push(key)
  }
  return { held: held as FurtherKeys, unheld }
}
