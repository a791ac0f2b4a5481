// The loop of an agent. Each turn reads the conversation from the ledger and does what is next: finish the calls of the
// last step, take another step, or end. Nothing is kept between turns, so a repeated run continues.
import type { ZodType } from 'zod'
import { Failure } from '../../core/errors.ts'
import { parseJson } from '../../core/json-text.ts'
import { issuesIn, issueText, safeParse, sentenceOf } from '../../core/parse.ts'
import type { Conversation, TakenStep } from '../../entities/conversation.ts'
import type { ExecutorTask, Run } from '../../entities/executor.ts'
import type { MessageRecord } from '../../entities/message.ts'
import type { ParsedAgentOptions } from '../../entities/options.ts'
import type { AgentRun } from '../../operations/agent-run.ts'
import { openConversation } from './first-messages.ts'
import { takeStep } from './take-step.ts'
import { ToolCalls } from './tool-calls.ts'
import { toolbox } from './toolbox.ts'

export async function converse(
  task: ExecutorTask,
  run: Run,
  agentRun: AgentRun,
  options: ParsedAgentOptions,
): Promise<unknown> {
  const maxIterations = options.maxIterations ?? agentRun.defaults.maxIterations
  const tools = await toolbox(agentRun, options)
  const calls = new ToolCalls(run, agentRun, tools, options.toolExecution ?? agentRun.defaults.toolExecution)
  await openConversation(task, run, agentRun, options.instructions)
  for (;;) {
    const conversation = await agentRun.conversation()
    const last = conversation.steps.at(-1)
    if (last !== undefined && (await calls.finish(last))) continue
    const inputs = nextInputs(conversation)
    if (last !== undefined && isAnswer(last) && inputs.length === 0) {
      const request = requestAfter(conversation.steps, run.attempt)
      const verdict =
        request === undefined ? judgeAnswer(last.content, options.result) : ({ fits: false, request } as const)
      if (verdict.fits) return verdict.result
      await agentRun.append({ id: agentRun.nextId('msg'), role: 'user', content: verdict.request })
      continue
    }
    const taken = conversation.steps.filter(({ step }) => step.attempt === run.attempt).length
    if (taken >= maxIterations) throw exhausted(maxIterations)
    await takeStep({ task, run, agentRun, options, tools, conversation, inputs })
  }
}

/** The model has answered. As long as it calls tools the loop continues, whatever finish reason it reports. */
function isAnswer(step: TakenStep): boolean {
  return step.calls.length === 0
}

/**
 * The messages for the next step: those that aborted the last one, then those that steer, each in order; follow-ups
 * only when the model would otherwise end.
 */
function nextInputs({ steps, unread }: Conversation): MessageRecord[] {
  const last = steps.at(-1)
  // Before the first step, the goal comes before all other messages.
  const opening = last === undefined ? unread.slice(0, 1) : []
  const rest = unread.slice(opening.length)
  const urgent = [
    ...opening,
    ...rest.filter((message) => message.delivery === 'abort'),
    ...rest.filter((message) => message.delivery !== 'abort' && message.delivery !== 'followup'),
  ]
  return urgent.length > 0 || last === undefined || !isAnswer(last) ? urgent : unread
}

function exhausted(maxIterations: number): Failure {
  return new Failure('Maximum iterations reached', {
    code: 'MAX_ITERATIONS',
    retry: false,
    details: {
      maxIterations,
      help: '`retry` starts a new attempt with as many steps; `maxIterations` allows more.',
    },
  })
}

/** `request`: what the model is asked for instead. */
type AnswerVerdict = { fits: true; result: unknown } | { fits: false; request: string }

/** Parses the last message of the model as the result of the task: its text, or the JSON that a schema requires. */
function judgeAnswer(content: string, schema: ZodType | undefined): AnswerVerdict {
  if (schema === undefined) return { fits: true, result: content }
  const candidates = [content, /```(?:json)?\s*\n([\s\S]*?)\n?```/.exec(content)?.[1]]
  let problem = 'it is not JSON'
  for (const text of candidates) {
    const value = text === undefined ? undefined : readJson(text)
    if (value === undefined) continue
    const parsed = safeParse(schema, value.json)
    // The run checks and parses the result again at its end.
    if (parsed.success) return { fits: true, result: value.json }
    problem = issueText(issuesIn(parsed.error))
  }
  return {
    fits: false,
    request: `Your answer cannot be used: ${sentenceOf(problem)} Answer again with nothing but JSON that matches the schema.`,
  }
}

function readJson(text: string): { json: unknown } | undefined {
  try {
    return { json: parseJson(text) }
  } catch {
    return undefined
  }
}

// Answers with which a model has not ended its work, whatever they say: cut, withheld, empty, or announcing calls that do not come. The model is
// asked once more where that can help.

interface Ending {
  code: 'ANSWER_CUT' | 'ANSWER_WITHHELD' | 'EMPTY_ANSWER'
  /** What the model did, for people. */
  what: string
  /** What the model receives when it is asked again. */
  request: string
  /** Whether asking again may help within the attempt. */
  helps: boolean
}

const cut: Ending = {
  code: 'ANSWER_CUT',
  what: 'The answer of the model was cut: it reached the maximum length of an answer',
  request: 'Your answer was cut because it reached the maximum length. Answer again, and more briefly.',
  helps: true,
}
const withheld: Ending = {
  code: 'ANSWER_WITHHELD',
  what: 'The provider has withheld the answer of the model, or a part of it (content filter)',
  request: 'Your answer was withheld by a filter of its content. Answer in another way.',
  helps: false,
}
const empty: Ending = {
  code: 'EMPTY_ANSWER',
  what: 'The model gave an empty answer',
  request: 'Your answer was empty. Answer with text, or call a tool.',
  helps: true,
}
const withoutCall: Ending = {
  code: 'EMPTY_ANSWER',
  what: 'The model announced calls of tools, and made none',
  request: 'You announced a call of a tool, and none came. Call the tool, or answer.',
  helps: true,
}

/** Undefined for a step with calls, and for an answer that may end the work. */
function endingOf({ content, step, calls }: TakenStep): Ending | undefined {
  if (calls.length > 0) return undefined
  if (step.finishReason === 'length') return cut
  if (step.finishReason === 'content-filter') return withheld
  if (step.finishReason === 'tool-calls') return withoutCall
  const hasFile = step.parts?.some(({ type }) => type === 'file') === true
  return content.trim() === '' && !hasFile ? empty : undefined
}

/**
 * What the model receives about its last answer; undefined if the answer may end the work.
 * @throws Failure ANSWER_CUT, ANSWER_WITHHELD, EMPTY_ANSWER when asking again does not help
 */
function requestAfter(steps: readonly TakenStep[], attempt: number): string | undefined {
  const [last, before] = [steps.at(-1), steps.at(-2)]
  const ending = last && endingOf(last)
  if (ending === undefined) return undefined
  const isOfNow = last?.step.attempt === attempt
  const isRepeated = before?.step.attempt === attempt && endingOf(before) !== undefined
  // A new attempt asks again in any case.
  if (!isOfNow || (ending.helps && !isRepeated)) return ending.request
  const help = ending === cut ? ' Allow longer answers with `maxOutputTokens` in the settings of the agent.' : ''
  throw new Failure(`${ending.what}${isRepeated ? ', twice in a row' : ''}.${help}`, {
    code: ending.code,
    details: { finishReason: last?.step.finishReason },
  })
}
