// A model that plays a script: for tests, demonstrations and dry runs, without network or key. Its provider is
// `errand-script`, so that it is never mistaken for another.

import { z } from 'zod'
import { Failure } from '../../core/errors.ts'
import { parse } from '../../core/parse.ts'
import { startOf } from '../../core/storable-text.ts'
import { maxSearchMs, withinTime } from '../../core/within-time.ts'
import type { LanguageModelLike } from './language-model.ts'
import type { ModelCallOptions, PromptMessage } from './model-prompt.ts'
import { type ParsedTurn, type ScriptedTurn, scriptedTurnSchema, scriptSchema } from './script.ts'

/** What a turn is chosen by: the conversation so far, without any state between steps. */
export interface ScriptedPrompt {
  /** Text of the first user message; empty without one. */
  goal: string
  /** Text of the last message: of tool messages, all results in order. */
  last: string
  /** Number of answers of the model so far: 0 for the first step. */
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
  /** Every prompt of this object, oldest first. */
  readonly prompts: readonly ScriptedPrompt[]
}

/**
 * A model that plays a script. Each turn is chosen by the conversation alone, so the same script continues after a
 * crash, and in another process:
 *
 * 1. The first turn whose `when.last` matches (with its `when.goal` and `when.tools`, if it has them).
 * 2. Else, of the turns whose `when.goal` and `when.tools` match, the n-th, n being the number of answers so far.
 * 3. Else, when no such turn matches, of the turns without `when`, the n-th.
 *
 * A step without a turn fails, finally; so does one whose patterns take longer than a second. A function in place of
 * the list chooses freely.
 *
 * ```ts
 * createScriptedModel([{ tools: [{ name: 'task_list', input: {} }] }, { text: 'There are three tasks.' }])
 * ```
 *
 * @throws ErrandError INVALID_INPUT, UNKNOWN_OPTION for an invalid script.
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
  // Patterns of a file are searched for in any text of tools and people, so their time is bounded.
  return (prompt) => {
    const chosen = withinTime(() => choose(prompt))
    if (chosen === undefined) throw choiceTooLong()
    return chosen.value
  }
}

function choiceTooLong(): Failure {
  return new Failure(
    `Searching this conversation for the patterns of the script took longer than ${maxSearchMs} ms. A nested repetition, as in /(a+)+$/, takes exponential time: write the pattern without one, or use a plain text.`,
    { code: 'protocol', retry: false },
  )
}

function chooserFrom(turns: readonly ParsedTurn[]): (prompt: ScriptedPrompt) => ParsedTurn {
  const reactions = turns.filter(({ when }) => when?.last !== undefined)
  const addressed = turns.filter(({ when }) => when && when.last === undefined)
  const plain = turns.filter(({ when }) => when === undefined)
  return (prompt) => {
    const reaction = reactions.find((turn) => matches(turn, prompt))
    if (reaction) return reaction
    const matching = addressed.filter((turn) => matches(turn, prompt))
    const part = matching.length > 0 ? matching : plain
    const turn = part[prompt.turn]
    if (turn) return turn
    throw new Failure(
      `The script has no turn for this step: the model has answered ${prompt.turn} times, and ${part.length} turns match this conversation. ` +
        `Its goal begins "${startOf(prompt.goal, 80)}", its last message "${startOf(prompt.last, 80)}".`,
      { code: 'protocol', retry: false },
    )
  }
}

function matches({ when }: ParsedTurn, prompt: ScriptedPrompt): boolean {
  return (
    occurs(when?.goal, prompt.goal) &&
    occurs(when?.last, prompt.last) &&
    (when?.tools ?? []).every((name) => prompt.tools.includes(name))
  )
}

/** `search` instead of `test`: a pattern with the flag `g` keeps its position. */
function occurs(condition: string | RegExp | undefined, text: string): boolean {
  if (condition === undefined) return true
  return typeof condition === 'string' ? text.includes(condition) : text.search(condition) >= 0
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

/** The parts of a turn; the last one may be the error of a lost connection. */
function toParts(turn: ParsedTurn, turnNumber: number, chunkSize: number): unknown[] {
  const { text = '', reasoning = '', tools = [], usage } = turn
  const content = [
    { type: 'stream-start', warnings: [] },
    ...pieces('reasoning', reasoning, chunkSize),
    ...pieces('text', text, chunkSize),
  ]
  if (turn.error === 'drop') return [...content, connectionLost()]
  return [
    ...content,
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

/** The error of the platform's fetch when the server closes the connection. */
function connectionLost(): TypeError {
  return new TypeError('terminated', { cause: new Error('The script drops the connection here (other side closed).') })
}

/** Splits a text between characters, never inside one. */
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

/** One part per pull, so that a slow or canceling reader sees what a live stream would do. */
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
