// The keys that the board has a word for, as they may stand in a file. Ids may be numbers or text, and null says nothing.
import { z } from 'zod'
import { parse } from '../../core/parse.ts'
import { type BoardRef, boardRefSchema, boardStatuses } from '../../entities/board.ts'
import { taskFields } from '../../entities/task-fields.ts'
import { numberOf } from '../task-ref.ts'
import type { FileValue } from './task-file.ts'

const { name: subject, priority, role, tags } = taskFields

/** `3`, `"3"` and `"#3"` are one task. */
const reference = boardRefSchema.transform((ref): BoardRef => numberOf(ref) ?? ref)
const references = z
  .array(reference)
  .max(10_000)
  .nullish()
  .transform((refs): BoardRef[] => [...new Set(refs ?? [])])

/** The seven. What is missing says nothing, but a task has a subject. */
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
  metadata: z.record(z.string(), z.json()),
  role: role.schema,
  tags: tags.schema,
  parent: reference,
  workspace: z.string().trim().min(1).max(4_096),
}

const sevenSchema = z.object({ ...seven, status: seven.status.default('pending') })
/** Of an edit only what has changed is judged: what stood there before was the mirror's own. */
const editSchema = z.object({
  ...Object.fromEntries(Object.entries(further).map(([key, schema]) => [key, schema.nullish()])),
  ...z.object(seven).partial().shape,
}) as unknown as z.ZodType<EditedKeys>

export type SevenKeys = z.output<typeof sevenSchema>
export type FurtherKeys = { [Key in keyof typeof further]?: z.output<(typeof further)[Key]> }
export type EditedKeys = { [Key in keyof SevenKeys]?: SevenKeys[Key] } & {
  [Key in keyof FurtherKeys]?: FurtherKeys[Key] | null
}

/** @throws ErrandError INVALID_INPUT for one of the seven that cannot be what it says. */
export function parseSeven(value: FileValue): SevenKeys {
  return parse(sevenSchema as z.ZodType<SevenKeys>, value, 'the file')
}

/** @throws ErrandError INVALID_INPUT */
export function parseEdited(changed: FileValue): EditedKeys {
  return parse(editSchema, changed, 'the edit')
}

/** The further keys that can be held, and of those that cannot the names: other tools have words of their own, like a priority "high". */
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
