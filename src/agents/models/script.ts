// The format of a script for a scripted model, in code and in a file.
import { type Document, isMap, isNode, LineCounter, parseDocument } from 'yaml'
import { z } from 'zod'
import { ErrandError } from '../../core/errors.ts'
import { parse } from '../../core/parse.ts'

const scriptedToolSchema = z
  .strictObject({
    name: z.string().min(1),
    /** The arguments as a value. Default `{}`. */
    input: z.unknown().optional(),
    /** The arguments as raw text, for invalid JSON. */
    arguments: z.string().optional(),
    /** Default: made from the positions of the turn and the call in the conversation, so the same after a restart. */
    id: z.string().min(1).optional(),
  })
  .refine((tool) => tool.input === undefined || tool.arguments === undefined, {
    message: 'it has both `input` and `arguments`, and only one of them can be sent',
  })

const scriptedErrorSchema = z.strictObject({
  status: z.number().int().min(400).max(599),
  message: z.string().default('scripted error'),
  retryAfterMs: z.number().int().nonnegative().optional(),
})

/** `text` is the type of a condition on a text: in code a RegExp, in a file a text between slashes. */
function turnSchemaWith<Text extends z.ZodType<string | RegExp>>(text: Text) {
  const whenSchema = z
    .strictObject({
      /** Occurs in the first user message. */
      goal: text.optional(),
      /** Occurs in the last message. */
      last: text.optional(),
      /** All of these tools are offered. */
      tools: z.array(z.string().min(1)).min(1).optional(),
    })
    .refine((when) => Object.values(when).some((condition) => condition !== undefined), {
      message: 'it has no condition; leave `when` out for a turn that matches every conversation',
    })
  return z.strictObject({
    when: whenSchema.optional(),
    reasoning: z.string().optional(),
    text: z.string().optional(),
    tools: z.array(scriptedToolSchema).optional(),
    /** An HTTP error in place of an answer; `drop`: the connection is lost after the text. */
    error: z.union([z.literal('drop'), scriptedErrorSchema]).optional(),
    /** Default: `tool-calls` with tools, `stop` without. */
    finish: z.enum(['stop', 'length', 'content-filter', 'tool-calls', 'other']).optional(),
    /** Default: unknown, because a script has no tokens. */
    usage: z
      .strictObject({ inputTokens: z.number().int().nonnegative(), outputTokens: z.number().int().nonnegative() })
      .optional(),
    /** Characters of each piece of text and reasoning. Default: the model's. */
    chunkSize: z.number().int().positive().optional(),
  })
}

export const scriptedTurnSchema = turnSchemaWith(z.union([z.string().min(1), z.instanceof(RegExp)]))
export const scriptSchema = z.array(scriptedTurnSchema).min(1)

/** One turn of a script, as it is written in code. */
export type ScriptedTurn = z.input<typeof scriptedTurnSchema>
/** One turn with its defaults. */
export type ParsedTurn = z.output<typeof scriptedTurnSchema>

const fileText = z
  .string()
  .min(1)
  .transform((text, context): string | RegExp => {
    const [, source, flags] = /^\/(.+)\/([a-z]*)$/s.exec(text) ?? []
    if (source === undefined) return text
    try {
      return new RegExp(source, flags)
    } catch (error) {
      context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) })
      return z.NEVER
    }
  })

const fileScriptSchema = z.array(turnSchemaWith(fileText)).min(1)
const wrappedScriptSchema = z.strictObject({ turns: fileScriptSchema })

/**
 * Parses a script from a file: YAML or JSON, a list of turns or `{ turns: [...] }`. In `when.goal` and `when.last` a
 * text between slashes (`/pattern/i`) is a regular expression.
 * @throws ErrandError INVALID_INPUT { file, path, line, column }.
 */
export function parseScript(text: string, file = 'script'): ParsedTurn[] {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const refuse = (message: string, offset: number, path: string[] = [], cause?: unknown) => {
    const { line, col: column } = lines.linePos(offset)
    const details = { file, path: path.join('.'), line, column }
    return new ErrandError('INVALID_INPUT', `${file}:${line}:${column}: ${message}`, details, cause)
  }
  const [syntaxError] = document.errors
  if (syntaxError) throw refuse(`The script is neither YAML nor JSON: ${syntaxError.message}`, syntaxError.pos[0])
  try {
    const value: unknown = document.toJS()
    const isWrapped = isMap(document.contents) && document.has('turns')
    return isWrapped
      ? parse(wrappedScriptSchema, value, 'The script').turns
      : parse(fileScriptSchema, value, 'The script')
  } catch (error) {
    const path = ErrandError.isInstance(error) ? pathOf(error) : []
    const message = error instanceof Error ? error.message : String(error)
    throw refuse(message, offsetOf(document, path), path, error)
  }
}

/** The path of the first issue in the value. */
function pathOf({ details }: ErrandError): string[] {
  const issues = details['issues'] as Array<{ path: string }> | undefined
  const path = issues?.[0]?.path ?? details['path']
  return typeof path === 'string' && path !== '' ? path.split('.') : []
}

/** The offset in the file of the innermost existing node on the path. */
function offsetOf(document: Document, path: readonly string[]): number {
  for (let length = path.length; length >= 0; length--) {
    const node = document.getIn(path.slice(0, length).map(toKey), true)
    if (isNode(node) && node.range) return node.range[0]
  }
  return 0
}

function toKey(step: string): string | number {
  return /^\d+$/.test(step) ? Number(step) : step
}
