// A model that plays a script: for tests, demonstrations and dry runs, with no network and no key. It never pretends to be
// anything else: its provider is `errand-script`.
import { z } from 'zod'
import { Failure } from '../core/errors.ts'
import { parse } from '../core/parse.ts'
import { maxSearchMs, withinTime } from '../core/within-time.ts'
import type { LanguageModelLike } from './language-model.ts'
import type { ModelCallOptions, PromptMessage } from './model-prompt.ts'
import { type ParsedTurn, type ScriptedTurn, scriptedTurnSchema, scriptSchema } from './script.ts'

/** What a turn is chosen by: the conversation so far, and nothing that is remembered between steps. */
export interface ScriptedPrompt {
  /** Text of the first user message; empty when there is none. */
  goal: string
  /** Text of the last message: of tool messages, all results in order. */
  last: string
  /** How many times the model has spoken so far: 0 for the first step. */
  turn: number
  /** Names of the tools offered. */
  tools: string[]
  /** The whole conversation; `text` as in `last`. */
  messages: Array<{ role: PromptMessage['role']; text: string }>
}

export type ScriptFunction = (prompt: ScriptedPrompt) => ScriptedTurn | Promise<ScriptedTurn>

export interface ScriptedModelOptions {
  /** Default `script`. */
  modelId?: string
  /** Characters of each piece of text and reasoning. Default 8. */
  chunkSize?: number
}

const optionsSchema = z.strictObject({
  modelId: z.string().min(1).default('script'),
  chunkSize: z.number().int().positive().default(8),
})

export interface ScriptedModel extends LanguageModelLike {
  readonly specificationVersion: 'v4'
  readonly provider: 'errand-script'
  doStream(options: ModelCallOptions): Promise<{ stream: ReadableStream<unknown> }>
  /** Every prompt this object was asked to answer, oldest first. */
  readonly prompts: readonly ScriptedPrompt[]
}

/**
 * A model that plays a script. Each step's turn is chosen by the conversation alone, so the same script goes on where it was
 * after a crash, and in another process:
 *
 * 1. The first turn whose `when.last` fits (with its `when.goal` and `when.tools`, if it has them).
 * 2. Else, of the turns whose `when.goal` and `when.tools` fit, the n-th, n being how often the model has spoken so far.
 * 3. Else, when no such turn fits, of the turns without `when`, the n-th.
 *
 * A script without a turn for a step fails it, finally; so does one whose patterns take longer than a second. A function in place of the
 * list chooses as it likes.
 *
 * ```ts
 * createScriptedModel([{ tools: [{ name: 'task_list', input: {} }] }, { text: 'There are three tasks.' }])
 * ```
 *
 * @throws ErrandError INVALID_INPUT, UNKNOWN_OPTION for what is no script.
 */
export function createScriptedModel(
  script: readonly ScriptedTurn[] | ScriptFunction,
  options: ScriptedModelOptions = {},
): ScriptedModel {
  const choose = typeof script === 'function' ? chooserOf(script) : fromList(parse(scriptSchema, script, 'The script'))
  const { modelId, chunkSize } = parse(optionsSchema, options, 'The options of the scripted model')
  const prompts: ScriptedPrompt[] = []
  return {
    specificationVersion: 'v4',
    provider: 'errand-script',
    modelId,
    prompts,
    async doStream(call) {
      call.abortSignal?.throwIfAborted()
      const prompt = toScriptedPrompt(call)
      prompts.push(prompt)
      const turn = await choose(prompt)
      if (typeof turn.error === 'object') throw httpError(turn.error)
      return { stream: play(toParts(turn, prompt.turn, turn.chunkSize ?? chunkSize), call.abortSignal) }
    },
  }
}

type ChooseTurn = (prompt: ScriptedPrompt) => ParsedTurn | Promise<ParsedTurn>

function chooserOf(script: ScriptFunction): ChooseTurn {
  return async (prompt) => parse(scriptedTurnSchema, await script(prompt), 'The turn that the script chose')
}

function fromList(turns: readonly ParsedTurn[]): ChooseTurn {
  const choose = chooserFrom(turns)
  if (!turns.some(({ when }) => when?.goal instanceof RegExp || when?.last instanceof RegExp)) return choose
  // Patterns of a file are searched for in whatever tools and people have said.
  return (prompt) => {
    const chosen = withinTime(() => choose(prompt))
    if (chosen === undefined) throw choiceTooLong()
    return chosen.value
  }
}

function choiceTooLong(): Failure {
  return new Failure(
    `The patterns of the script were searched for in this conversation for more than ${maxSearchMs} ms. A repetition inside of a repetition, as in /(a+)+$/, takes so long: write the pattern without one, or a text that occurs.`,
    { code: 'protocol', retry: false },
  )
}

function chooserFrom(turns: readonly ParsedTurn[]): (prompt: ScriptedPrompt) => ParsedTurn {
  const reactions = turns.filter(({ when }) => when?.last !== undefined)
  const addressed = turns.filter(({ when }) => when && when.last === undefined)
  const plain = turns.filter(({ when }) => when === undefined)
  return (prompt) => {
    const reaction = reactions.find((turn) => fits(turn, prompt))
    if (reaction) return reaction
    const fitting = addressed.filter((turn) => fits(turn, prompt))
    const part = fitting.length > 0 ? fitting : plain
    const turn = part[prompt.turn]
    if (turn) return turn
    throw new Failure(
      `The script has no turn for this step: the model has spoken ${prompt.turn} times, and ${part.length} turns fit this conversation. ` +
        `Its goal begins "${prompt.goal.slice(0, 80)}", its last message "${prompt.last.slice(0, 80)}".`,
      { code: 'protocol', retry: false },
    )
  }
}

function fits({ when }: ParsedTurn, prompt: ScriptedPrompt): boolean {
  return (
    occurs(when?.goal, prompt.goal) &&
    occurs(when?.last, prompt.last) &&
    (when?.tools ?? []).every((name) => prompt.tools.includes(name))
  )
}

/** `search` and not `test`: a pattern with the flag `g` remembers where it was. */
function occurs(wanted: string | RegExp | undefined, text: string): boolean {
  if (wanted === undefined) return true
  return typeof wanted === 'string' ? text.includes(wanted) : text.search(wanted) >= 0
}

function toScriptedPrompt({ prompt, tools = [] }: ModelCallOptions): ScriptedPrompt {
  const messages = prompt.map((message) => ({ role: message.role, text: textOf(message) }))
  return {
    goal: messages.find(({ role }) => role === 'user')?.text ?? '',
    last: messages.at(-1)?.text ?? '',
    turn: messages.filter(({ role }) => role === 'assistant').length,
    tools: tools.map(({ name }) => name),
    messages,
  }
}

function textOf(message: PromptMessage): string {
  if (typeof message.content === 'string') return message.content
  return message.content
    .map((part) => (part.type === 'text' ? part.text : part.type === 'tool-result' ? part.output.value : ''))
    .join('\n')
    .trim()
}

/** An HTTP error in the shape in which providers throw it. */
function httpError({ status, message, retryAfterMs }: Exclude<NonNullable<ParsedTurn['error']>, 'drop'>): Error {
  return Object.assign(new Error(message), {
    name: 'ScriptedHttpError',
    statusCode: status,
    responseHeaders: retryAfterMs === undefined ? {} : { 'retry-after-ms': String(retryAfterMs) },
  })
}

/** The parts of a turn, and last of all the error of a connection that is lost. */
function toParts(turn: ParsedTurn, turnNumber: number, chunkSize: number): unknown[] {
  const { text = '', reasoning = '', tools = [], usage } = turn
  const said = [
    { type: 'stream-start', warnings: [] },
    ...pieces('reasoning', reasoning, chunkSize),
    ...pieces('text', text, chunkSize),
  ]
  if (turn.error === 'drop') return [...said, connectionLost()]
  return [
    ...said,
    ...tools.map((tool, index) => ({
      type: 'tool-call',
      toolCallId: tool.id ?? `call_${turnNumber + 1}_${index + 1}`,
      toolName: tool.name,
      input: tool.arguments ?? JSON.stringify(tool.input ?? {}),
    })),
    {
      type: 'finish',
      finishReason: { unified: turn.finish ?? (tools.length > 0 ? 'tool-calls' : 'stop'), raw: undefined },
      usage: { inputTokens: { total: usage?.inputTokens }, outputTokens: { total: usage?.outputTokens } },
    },
  ]
}

/** What the platform's fetch says when the other side hangs up. */
function connectionLost(): TypeError {
  return new TypeError('terminated', { cause: new Error('The script drops the connection here (other side closed).') })
}

/** Cut between characters, never inside one. */
function pieces(kind: 'text' | 'reasoning', text: string, chunkSize: number): unknown[] {
  if (text === '') return []
  const characters = Array.from(text)
  const id = `${kind}-1`
  const deltas: unknown[] = []
  for (let from = 0; from < characters.length; from += chunkSize) {
    deltas.push({ type: `${kind}-delta`, id, delta: characters.slice(from, from + chunkSize).join('') })
  }
  return [{ type: `${kind}-start`, id }, ...deltas, { type: `${kind}-end`, id }]
}

/** One part for each time it is asked, so that whoever reads slowly or leaves early sees what a live stream would do. */
function play(parts: readonly unknown[], signal: AbortSignal | undefined): ReadableStream<unknown> {
  let next = 0
  return new ReadableStream({
    pull(controller) {
      const part = parts[next++]
      if (signal?.aborted) controller.error(signal.reason)
      else if (part instanceof Error) controller.error(part)
      else if (part === undefined) controller.close()
      else controller.enqueue(part)
    },
  })
}
