// The loop of an agent. Each turn reads the conversation from the ledger and does the one thing that it calls for: finish the
// calls of the last step, take another step, or end. Nothing is kept from turn to turn, so a repeated run simply goes on.
import type { ZodType } from 'zod'
import type { AgentRun } from '../../agent-run.ts'
import type { ExecutorTask, Run } from '../../api/executor.ts'
import type { ParsedAgentOptions } from '../../api/options.ts'
import { Failure } from '../../core/errors.ts'
import { issuesIn, issueText } from '../../core/parse.ts'
import type { Conversation, TakenStep } from '../../entities/conversation.ts'
import type { MessageRecord } from '../../entities/message.ts'
import { openConversation } from './opening.ts'
import { takeStep } from './take-step.ts'
import { ToolCalls } from './tool-calls.ts'
import { toolbox } from './toolbox.ts'

export async function converse(
  task: ExecutorTask,
  run: Run,
  talk: AgentRun,
  options: ParsedAgentOptions,
): Promise<unknown> {
  const maxIterations = options.maxIterations ?? talk.defaults.maxIterations
  const tools = toolbox(talk, options)
  const calls = new ToolCalls(run, talk, tools, options.toolExecution ?? talk.defaults.toolExecution)
  await openConversation(task, run, talk, options.instructions)
  for (;;) {
    const conversation = await talk.conversation()
    const last = conversation.steps.at(-1)
    if (last !== undefined && (await calls.finish(last))) continue
    const inputs = nextInputs(conversation)
    if (last !== undefined && isAnswer(last) && inputs.length === 0) {
      const verdict = judgeAnswer(last.content, options.result)
      if (verdict.fits) return verdict.result
      await talk.append({ id: talk.nextId('msg'), role: 'user', content: verdict.complaint })
      continue
    }
    const taken = conversation.steps.filter(({ step }) => step.attempt === run.attempt).length
    if (taken >= maxIterations) throw exhausted(maxIterations)
    await takeStep({ task, run, talk, options, tools, conversation, inputs })
  }
}

/** The model has said what it had to say. It goes on whenever it asked for calls, whatever finish reason it gave. */
function isAnswer(step: TakenStep): boolean {
  return step.calls.length === 0
}

/**
 * What the next step is to see: what stopped it, then messages that steer, each in order; those that follow up only when the model
 * would end (conformance S3-112).
 */
function nextInputs({ steps, unread }: Conversation): MessageRecord[] {
  const last = steps.at(-1)
  // Before the first step the goal stands before all that has been said about it.
  const opening = last === undefined ? unread.slice(0, 1) : []
  const said = unread.slice(opening.length)
  const urgent = [
    ...opening,
    ...said.filter((message) => message.delivery === 'abort'),
    ...said.filter((message) => message.delivery !== 'abort' && message.delivery !== 'followup'),
  ]
  return urgent.length > 0 || last === undefined || !isAnswer(last) ? urgent : unread
}

function exhausted(maxIterations: number): Failure {
  return new Failure('Maximum iterations reached', {
    code: 'MAX_ITERATIONS',
    retry: false,
    details: {
      maxIterations,
      help: '`retry` gives it a new attempt with as many steps; `maxIterations` gives it more.',
    },
  })
}

type AnswerVerdict = { fits: true; result: unknown } | { fits: false; complaint: string }

/** The last word of an agent as the task's result: its text, or the JSON that a schema asks for. What does not fit goes back to the model. */
function judgeAnswer(content: string, schema: ZodType | undefined): AnswerVerdict {
  if (schema === undefined) return { fits: true, result: content }
  const candidates = [content, /```(?:json)?\s*\n([\s\S]*?)\n?```/.exec(content)?.[1]]
  let problem = 'it is not JSON'
  for (const text of candidates) {
    const value = text === undefined ? undefined : readJson(text)
    if (value === undefined) continue
    const parsed = schema.safeParse(value.json)
    // Checked again, and parsed, when the run's result is taken.
    if (parsed.success) return { fits: true, result: value.json }
    problem = issueText(issuesIn(parsed.error))
  }
  return {
    fits: false,
    complaint: `Your answer cannot be used: ${problem}. Answer again with nothing but JSON that fits the schema.`,
  }
}

function readJson(text: string): { json: unknown } | undefined {
  try {
    return { json: JSON.parse(text) as unknown }
  } catch {
    return undefined
  }
}
