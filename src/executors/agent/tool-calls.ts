// The calls of a step: those that do something run first, at once or one after the other; those that wait (for a person, for
// other tasks) come last and stay pending meanwhile. Whatever goes wrong with a call is its result, and the model reads it.
import { z } from 'zod'
import type { AgentRun } from '../../agent-run.ts'
import type { CallContext, CallOptions, Run } from '../../api/executor.ts'
import { failureWithin } from '../../bus/ability-error.ts'
import { mayCall } from '../../bus/capabilities.ts'
import { defined } from '../../core/defined.ts'
import { ErrandError, Failure } from '../../core/errors.ts'
import { issuesIn, issueText } from '../../core/parse.ts'
import { interruptedError } from '../../entities/call.ts'
import type { TakenStep } from '../../entities/conversation.ts'
import type { OnInterrupt } from '../../entities/task-fields.ts'
import { paramsOf, readArguments } from './call-arguments.ts'
import { askUserSchema, type Tool, type Toolbox, waitForTasksSchema } from './toolbox.ts'

type Asked = TakenStep['calls'][number]
type AbilityTool = Extract<Tool, { kind: 'ability' }>

/** Codes by which a call that never began was closed with its task. */
const neverBegun = 'RUN_ENDED'

/** What a person answers who is to approve a call. */
const confirmAnswerSchema = z.strictObject({
  approved: z.boolean(),
  reason: z.string().optional(),
  /** Given to the ability in place of what the model gave. */
  input: z.unknown().optional(),
})

export class ToolCalls {
  readonly #run: Run
  readonly #talk: AgentRun
  readonly #tools: Toolbox
  readonly #execution: 'parallel' | 'sequential'
  /** Entries that have been dealt with: an interrupted one that a person does not want repeated is what the model is told. */
  readonly #letBe = new Set<string>()

  constructor(run: Run, talk: AgentRun, tools: Toolbox, execution: 'parallel' | 'sequential') {
    this.#run = run
    this.#talk = talk
    this.#tools = tools
    this.#execution = execution
  }

  /** Brings the open calls of a step to their end; false when none is open. */
  async finish(step: TakenStep): Promise<boolean> {
    const open = step.calls.filter((call) => this.#isOpen(call))
    if (open.length === 0) return false
    const doing = open.filter((call) => !this.#waits(call))
    if (this.#execution === 'parallel') await Promise.all(doing.map((call) => this.#one(call)))
    else for (const call of doing) await this.#one(call)
    await Promise.all(open.filter((call) => this.#waits(call)).map((call) => this.#one(call)))
    // Made again, it has a new entry; else the old one is what the model is told.
    for (const { entry } of open) if (entry !== undefined) this.#letBe.add(entry.id)
    return true
  }

  /** Not begun, or interrupted and to be made again. */
  #isOpen({ entry }: Asked): boolean {
    if (entry === undefined || entry.status === 'pending' || entry.status === 'in_progress') return true
    if (entry.status === 'completed' || this.#letBe.has(entry.id)) return false
    if (entry.error?.code === neverBegun) return true
    return entry.error?.code === interruptedError('').code && entry.onInterrupt !== 'fail'
  }

  #waits({ asked }: Asked): boolean {
    const tool = this.#tools.tool(asked.ability)
    return tool.kind !== 'ability' || this.#isPutToAPerson(tool)
  }

  #one(call: Asked): Promise<void> {
    const { asked } = call
    const tool = this.#tools.tool(asked.ability)
    const read = readArguments(asked.arguments)
    if ('refusal' in read) return this.#refuse(call, read.refusal)
    const { given } = read
    if (tool.kind === 'ask_user') return this.#askUser(call, given)
    if (tool.kind === 'wait_for_tasks') return this.#waitForTasks(call, given)
    if (this.#isPutToAPerson(tool)) return this.#confirmed(call, tool, given)
    return this.#invoke(call, tool, given)
  }

  /** Nobody is asked about a call that the bus refuses whatever the answer. */
  #isPutToAPerson({ ability }: AbilityTool): boolean {
    return ability !== undefined && ability.confirm !== false && mayCall(ability, this.#tools.caller) === true
  }

  #invoke(
    { asked, key, entry }: Asked,
    tool: AbilityTool,
    given: unknown,
    changed?: { input: unknown },
  ): Promise<void> {
    const { bus } = this.#talk
    const { caller } = this.#tools
    const call = async (input: unknown, { signal, callId, identity, note }: CallContext): Promise<unknown> => {
      try {
        return await bus.call(tool.id, input, { caller, signal, run: this.#talk.toolRun, callId, identity, note })
      } catch (error) {
        throw failureWithin(error)
      }
    }
    return this.#talk.perform(asked.ability, given, call, {
      ...this.#way(key, entry?.onInterrupt ?? tool.ability?.onInterrupt ?? this.#talk.onInterrupt),
      ...defined({ retry: tool.ability?.retry, timeoutMs: tool.ability?.timeoutMs }),
      ...(changed === undefined ? {} : { given: changed.input }),
    })
  }

  #way(key: string, onInterrupt: OnInterrupt): CallOptions & { key: string; announced: true } {
    return { key, onInterrupt, announced: true }
  }

  /** The call is over before it begins. */
  #refuse(call: Asked, error: Error): Promise<void> {
    return this.#record(call, () => {
      throw error
    })
  }

  /** What came of waiting, as the call's outcome. It may be recorded again: nothing happens by it. */
  #record({ asked, key }: Asked, outcome: () => unknown): Promise<void> {
    return this.#talk.perform(asked.ability, paramsOf(asked.arguments), outcome, this.#way(key, 'rerun'))
  }

  async #askUser(call: Asked, given: unknown): Promise<void> {
    return this.#awaited(call, askUserSchema, given, ({ question, options }) =>
      this.#run.ask(question, options === undefined ? { type: 'string' } : { enum: options }, {
        key: `ask:${call.key}`,
      }),
    )
  }

  async #waitForTasks(call: Asked, given: unknown): Promise<void> {
    return this.#awaited(call, waitForTasksSchema, given, ({ taskIds, mode, timeoutMs }) =>
      this.#talk.waitFor(taskIds ?? null, {
        key: `wait:${call.key}`,
        mode,
        ...(timeoutMs === undefined ? {} : { timeoutMs }),
      }),
    )
  }

  async #awaited<T>(
    call: Asked,
    schema: z.ZodType<T>,
    given: unknown,
    wait: (input: T) => Promise<unknown>,
  ): Promise<void> {
    const parsed = schema.safeParse(given)
    if (!parsed.success) return this.#refuse(call, badInput(call.asked.ability, parsed.error))
    let outcome: () => unknown
    try {
      const answer = await wait(parsed.data)
      outcome = () => answer
    } catch (error) {
      this.#run.signal.throwIfAborted()
      // Nobody knows whether it was asked: that is no outcome to tell a model.
      if (isOfTheLedger(error)) throw error
      outcome = () => {
        throw error
      }
    }
    return this.#record(call, outcome)
  }

  /** A person decides first, and may change what is given (the answer's `input`). */
  async #confirmed(call: Asked, tool: AbilityTool, given: Record<string, unknown>): Promise<void> {
    const decision = confirmAnswerSchema.parse(
      await this.#run.ask(confirmQuestion(tool, given), confirmAnswerSchema, {
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

const maxShown = 2_000

/** The ability's own question, or one made of its description; what would be given stands below it. */
function confirmQuestion({ id, ability }: AbilityTool, given: Record<string, unknown>): string {
  const own =
    typeof ability?.confirm === 'string'
      ? ability.confirm
      : `May ${id} be called? It says of itself: ${ability?.description}`
  const text = JSON.stringify(given, null, 2)
  return `${own}\n\n${text.length > maxShown ? `${text.slice(0, maxShown)}…` : text}`
}

function isOfTheLedger(error: unknown): boolean {
  return ErrandError.isInstance(error) && (error.code === 'OUTCOME_UNKNOWN' || error.code.startsWith('LEDGER_'))
}

function badInput(name: string, error: z.ZodError): ErrandError {
  const issues = issuesIn(error)
  return new ErrandError('INVALID_INPUT', `The arguments of ${name} do not fit: ${issueText(issues)}.`, { issues })
}
