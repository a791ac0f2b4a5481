// The calls of a step: those that do something run first, in parallel or one after the other; those that wait (for a
// person, for other tasks) come last and stay pending meanwhile. Every failure is the result of its call, which the
// model reads.
import { z } from 'zod'
import { failureWithin } from '../../bus/ability-error.ts'
import { mayCall } from '../../bus/capabilities.ts'
import { ErrandError, Failure } from '../../core/errors.ts'
import { omitUndefined } from '../../core/omit-undefined.ts'
import { issuesIn, issueText, safeParse, sentenceOf } from '../../core/parse.ts'
import { inputToRead, maxReadLength } from '../../core/visible-json.ts'
import { interruptedError } from '../../entities/call.ts'
import type { CallContext, CallOptions, Parsed } from '../../entities/call-options.ts'
import type { TakenStep } from '../../entities/conversation.ts'
import type { Run } from '../../entities/executor.ts'
import type { OnInterrupt } from '../../entities/task-fields.ts'
import type { AgentRun } from '../../operations/agent-run.ts'
import { paramsOf, readArguments } from './call-arguments.ts'
import { askUserSchema, type Tool, type Toolbox, waitForTasksSchema } from './toolbox.ts'

type StepCall = TakenStep['calls'][number]
type AbilityTool = Extract<Tool, { kind: 'ability' }>

/** The error code of a call that was closed with its task before it began. */
const notBegunCode = 'RUN_ENDED'

/** The answer of the person who approves a call. */
const confirmAnswerSchema = z.strictObject({
  approved: z.boolean(),
  reason: z.string().optional(),
  /** Passed to the ability instead of the arguments of the model. */
  input: z.unknown().optional(),
})

export class ToolCalls {
  readonly #run: Run
  readonly #agentRun: AgentRun
  readonly #tools: Toolbox
  readonly #execution: 'parallel' | 'sequential'
  /**
   * Entries that are finished: of an interrupted call that a person does not repeat, the model receives the
   * interruption.
   */
  readonly #finished = new Set<string>()

  constructor(run: Run, agentRun: AgentRun, tools: Toolbox, execution: 'parallel' | 'sequential') {
    this.#run = run
    this.#agentRun = agentRun
    this.#tools = tools
    this.#execution = execution
  }

  /** Finishes the open calls of a step; false when none is open. */
  async finish(step: TakenStep): Promise<boolean> {
    const open = step.calls.filter((call) => this.#isOpen(call))
    if (open.length === 0) return false
    const doing = open.filter((call) => !this.#isWait(call))
    if (this.#execution === 'parallel') await Promise.all(doing.map((call) => this.#perform(call)))
    else for (const call of doing) await this.#perform(call)
    await Promise.all(open.filter((call) => this.#isWait(call)).map((call) => this.#perform(call)))
    // A repeated call has a new entry; otherwise the model receives the old one.
    for (const { entry } of open) if (entry !== undefined) this.#finished.add(entry.id)
    return true
  }

  /** Not begun, or interrupted and to be repeated. */
  #isOpen({ entry }: StepCall): boolean {
    if (entry === undefined || entry.status === 'pending' || entry.status === 'in_progress') return true
    if (entry.status === 'completed' || this.#finished.has(entry.id)) return false
    if (entry.error?.code === notBegunCode) return true
    return entry.error?.code === interruptedError('').code && entry.onInterrupt !== 'fail'
  }

  #isWait({ asked }: StepCall): boolean {
    const tool = this.#tools.tool(asked.ability)
    return tool.kind !== 'ability' || this.#needsApproval(tool)
  }

  #perform(call: StepCall): Promise<void> {
    const { asked } = call
    const tool = this.#tools.tool(asked.ability)
    const read = readArguments(asked.arguments)
    if ('refusal' in read) return this.#refuse(call, read.refusal)
    const { given } = read
    if (tool.kind === 'ask_user') return this.#askUser(call, given)
    if (tool.kind === 'wait_for_tasks') return this.#waitForTasks(call, given)
    if (this.#needsApproval(tool)) return this.#confirmed(call, tool, given)
    return this.#invoke(call, tool, given)
  }

  /** No approval is requested for a call that the bus refuses anyway. */
  #needsApproval({ ability }: AbilityTool): boolean {
    return ability !== undefined && ability.confirm !== false && mayCall(ability, this.#tools.caller) === true
  }

  #invoke(
    { asked, key, entry }: StepCall,
    tool: AbilityTool,
    given: unknown,
    changed?: { input: unknown },
  ): Promise<void> {
    const { bus } = this.#agentRun
    const { caller } = this.#tools
    const call = async (input: unknown, { signal, callId, identity, note }: CallContext): Promise<unknown> => {
      try {
        return await bus.call(tool.id, input, { caller, signal, run: this.#agentRun.toolRun, callId, identity, note })
      } catch (error) {
        throw failureWithin(error)
      }
    }
    return this.#agentRun.perform(asked.ability, given, call, {
      ...this.#way(key, entry?.onInterrupt ?? tool.ability?.onInterrupt ?? this.#agentRun.onInterrupt),
      ...omitUndefined({ retry: tool.ability?.retry, timeoutMs: tool.ability?.timeoutMs }),
      ...(changed === undefined ? {} : { given: changed.input }),
    })
  }

  #way(key: string, onInterrupt: OnInterrupt): Parsed<CallOptions> & { key: string; announced: true } {
    return { key, onInterrupt, announced: true }
  }

  /** Records the call as failed without making it. */
  #refuse(call: StepCall, error: Error): Promise<void> {
    return this.#record(call, () => {
      throw error
    })
  }

  /** Records the outcome of a wait as that of the call. It may be recorded again, because it has no effects. */
  #record({ asked, key }: StepCall, outcome: () => unknown): Promise<void> {
    return this.#agentRun.perform(asked.ability, paramsOf(asked.arguments), outcome, this.#way(key, 'rerun'))
  }

  async #askUser(call: StepCall, given: unknown): Promise<void> {
    return this.#awaited(call, askUserSchema(), given, ({ question, options }) =>
      this.#run.ask(question, options === undefined ? { type: 'string' } : { enum: options }, {
        key: `ask:${call.key}`,
      }),
    )
  }

  async #waitForTasks(call: StepCall, given: unknown): Promise<void> {
    return this.#awaited(call, waitForTasksSchema(), given, ({ taskIds, mode, timeoutMs }) =>
      this.#agentRun.waitFor(taskIds ?? null, {
        key: `wait:${call.key}`,
        mode,
        ...(timeoutMs === undefined ? {} : { timeoutMs }),
      }),
    )
  }

  async #awaited<T>(
    call: StepCall,
    schema: z.ZodType<T>,
    given: unknown,
    wait: (input: T) => Promise<unknown>,
  ): Promise<void> {
    const parsed = safeParse(schema, given)
    if (!parsed.success) return this.#refuse(call, badInput(call.asked.ability, parsed.error))
    let outcome: () => unknown
    try {
      const answer = await wait(parsed.data)
      outcome = () => answer
    } catch (error) {
      this.#run.signal.throwIfAborted()
      // Whether the question was recorded is unknown, so there is no outcome for the model.
      if (isOfTheLedger(error)) throw error
      outcome = () => {
        throw error
      }
    }
    return this.#record(call, outcome)
  }

  /** Asks a person for approval, who may change the input (`input` of the answer). */
  async #confirmed(call: StepCall, tool: AbilityTool, given: Record<string, unknown>): Promise<void> {
    const input = inputToRead(given)
    if (input === undefined) return this.#refuse(call, tooLongToApprove(tool.id))
    const decision = confirmAnswerSchema.parse(
      await this.#run.ask(confirmQuestion(tool, input), confirmAnswerSchema, {
        key: `confirm:${call.key}`,
        for: 'person',
      }),
    )
    if (decision.approved) {
      return this.#invoke(call, tool, given, decision.input === undefined ? undefined : { input: decision.input })
    }
    const why = decision.reason === undefined ? '' : `: ${decision.reason}`
    return this.#refuse(
      call,
      new Failure(`The user did not approve this call${why}`, { code: 'NOT_APPROVED', retry: false }),
    )
  }
}

/** The ability's own question, or one made from its description, followed by all of the input: what is not shown is not approved. */
function confirmQuestion({ id, ability }: AbilityTool, input: string): string {
  const own =
    typeof ability?.confirm === 'string'
      ? ability.confirm
      : `May ${id} be called? Its description: ${ability?.description}`
  return `${own}\n\n${input}`
}

function tooLongToApprove(id: string): Failure {
  return new Failure(
    `A person must approve this call of ${id}, and its input is too long to be read: more than ${maxReadLength} characters of JSON. Make calls with shorter inputs, or put the content into a file that the call names.`,
    { code: 'NOT_APPROVED', retry: false },
  )
}

function isOfTheLedger(error: unknown): boolean {
  return ErrandError.isInstance(error) && (error.code === 'OUTCOME_UNKNOWN' || error.code.startsWith('LEDGER_'))
}

function badInput(name: string, error: z.ZodError): ErrandError {
  const issues = issuesIn(error)
  return new ErrandError(
    'INVALID_INPUT',
    `The arguments of ${name} do not match its schema: ${sentenceOf(issueText(issues))}`,
    {
      issues,
    },
  )
}
