// Serves one engine over MCP. The tools are the abilities registered at the time of the request, and a tool call invokes the bus with
// a caller that may only call these abilities.
import type { Server, ServerContext, Tool } from '@modelcontextprotocol/server'
import { createBoardSession } from '../../board/board-session.ts'
import type { Ability } from '../../bus/ability.ts'
import type { Caller } from '../../bus/caller.ts'
import { mayCall } from '../../bus/capabilities.ts'
import { type ToolTable, toolTable } from '../../bus/tool-names.ts'
import { packageVersion } from '../../core/package-folder.ts'
import { nextTurn } from '../../core/turns.ts'
import { listAllows } from '../../entities/ability-pattern.ts'
import { callerOf, type Principal } from '../web/principal.ts'
import { AgentSessions } from './agent-sessions.ts'
import { type Answers, type OpenAnswer, Returns } from './answers.ts'
import type { Sdk } from './load-sdk.ts'
import type { AgentSession, CheckedMcpOptions, ServedEngine } from './mcp-options.ts'
import { boardWait, taskWait, type WaitLimits, waitForTasks, waitForWork, withProgress } from './progress.ts'
import { handleInsteadOf, type Invoke, serveTasks, tasksExtension } from './tasks-extension.ts'
import { answerResult, errorResult, type ToolResult } from './tool-results.ts'

/** The client of a connection, and what it can receive. */
export interface Peer {
  agent: string | undefined
  /** As the credentials identify it; absent without credentials, as over standard input. */
  principal?: Principal
  /** The key under which limits count its sessions; absent if there is only one client. */
  limitKey?: string
  /** Version of the protocol: only `modern` supports extensions. */
  era: 'legacy' | 'modern'
  /** Whether it can be notified of changed tools. */
  reachable: boolean
  /** Its answers that have not been sent; the transport says what becomes of them. */
  answers: Answers
  /** Aborts when the client has closed its input: responses can still be sent, but no new requests arrive. */
  inputEnded?: AbortSignal
}

const surfaceName = 'mcp'

/** Runs commands, so it becomes a tool only where the server names it. */
/**
 * Abilities that are not for models, and that a server may name all the same: it vouches for its clients then, as for programs. A pattern does
 * not name them.
 */
const isForNamed = (id: string): boolean => id === 'plan:run' || id.startsWith('schedules:')

/** The server side of all connections to one engine. */
export class McpService {
  readonly #sessions: AgentSessions
  readonly #returns: Returns
  readonly #engine: ServedEngine
  readonly #options: CheckedMcpOptions
  readonly #version = packageVersion()

  constructor(engine: ServedEngine, options: CheckedMcpOptions & { sessionIdleMs?: number }) {
    const { clock, session, onError, sessionIdleMs } = options
    this.#engine = engine
    this.#options = options
    const { bus } = engine
    // The claims of an agent with a name are renewed for it.
    const openFor = session ?? ((as) => createBoardSession({ bus, as, surface: surfaceName, clock }))
    // An agent without a name passes one with each claim and renews its claims itself.
    const nameless: AgentSession = { call: (id, input, options) => bus.call(id, input, options), close: () => {} }
    this.#sessions = new AgentSessions({
      open: (agent) => (agent === undefined ? nameless : openFor(agent, engine)),
      idleMs: sessionIdleMs,
      clock,
      report: onError,
    })
    this.#returns = new Returns(clock, onError)
  }

  /** Closes the sessions of all agents, and gives back what they have taken and did not get. */
  async close(): Promise<void> {
    await this.#sessions.close()
    await this.#returns.allSettled()
  }

  /** Calls the listener after every known change of the tools. Returns a function that unsubscribes. */
  onToolsChanged(listener: () => void): () => void {
    return this.#engine.bus.onRegister((ability) => {
      if (this.#offers(ability) || isForNamed(ability.id)) listener()
    })
  }

  /** A server for one connection, or for one request if the transport has no connections. */
  createServer(sdk: Sdk, peer: Peer): Server {
    const speaksTasks = peer.era === 'modern' && this.#offersTasks()
    const server = new sdk.Server(
      { name: 'errand', version: this.#version },
      {
        instructions: instructionsFor((id) => this.#engine.bus.has(id) && this.#lists(id)),
        capabilities: {
          tools: { listChanged: peer.reachable },
          ...(speaksTasks ? { extensions: { [tasksExtension]: {} } } : {}),
        },
        debouncedNotificationMethods: ['notifications/tools/list_changed'],
      },
    )
    server.onerror = this.#options.onError
    server.setRequestHandler('tools/list', () => ({ tools: this.#tools(peer) }))
    server.setRequestHandler('tools/call', async ({ params: { name, arguments: input = {} } }, context) => {
      const ability = this.#abilityOf(name, peer)
      if (ability === undefined) {
        throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, `Tool ${name} not found`)
      }
      const result = await this.#answer(ability, name, input, peer, context)
      if (result['resultType'] === 'task' || result.isError) return result
      return server.projectCallToolResult(result as never, ability.outputSchema)
    })
    if (speaksTasks) serveTasks(sdk, server, (context) => this.#invoke(peer, context))
    return server
  }

  #tools(peer: Peer): Tool[] {
    const { bus } = this.#engine
    const table = bus.toolsFor(this.#caller(peer))
    const named = this.#namedTools(peer)
    return [...table.definitions, ...named.definitions].flatMap(({ function: { name, description, parameters } }) => {
      const namedAbility = named.abilityOf(name)
      const ability = bus.get(namedAbility ?? (table.abilityOf(name) as string))
      if (ability === undefined || (namedAbility === undefined && !this.#offers(ability))) return []
      const tool: Tool = { name, description, inputSchema: parameters as Tool['inputSchema'] }
      if (this.#options.abilities.brief.has(ability.id)) return [tool]
      const { $schema: _dialect, ...outputSchema } = ability.outputSchema
      return [{ ...tool, outputSchema }]
    })
  }

  #abilityOf(toolName: string, peer: Peer): Ability | undefined {
    const named = this.#namedTools(peer).abilityOf(toolName)
    if (named !== undefined) return this.#engine.bus.get(named)
    const id = this.#engine.bus.toolsFor(this.#caller(peer)).abilityOf(toolName)
    const ability = id === undefined ? undefined : this.#engine.bus.get(id)
    return ability !== undefined && this.#offers(ability) ? ability : undefined
  }

  /** Tool calls cannot be confirmed by a person here, so abilities that require it are not offered. */
  #offers({ id, confirm, models, isStream }: Ability): boolean {
    return models && !isStream && confirm === false && this.#lists(id)
  }

  #lists(id: string): boolean {
    return listAllows(this.#options.abilities.all, id)
  }

  /** Abilities that are not for models, where the server names them. Naming does not make up for credentials that do not hold everything. */
  #namedTools(peer: Peer): ToolTable {
    const { bus } = this.#engine
    if (peer.principal?.taskId !== undefined) return toolTable([])
    const caller = this.#program(peer)
    const named = this.#options.abilities.all.filter(isForNamed).flatMap((id) => bus.get(id) ?? [])
    return toolTable(named.filter((ability) => mayCall(ability, caller) === true))
  }

  #offersTasks(): boolean {
    return ['task:create', 'task:get', 'task:list'].every((id) => this.#lists(id))
  }

  /** The result of a call that ends when its answer can no longer be sent. */
  async #answer(
    ability: Ability,
    toolName: string,
    input: Record<string, unknown>,
    peer: Peer,
    context: ServerContext,
  ): Promise<ToolResult> {
    const answer = peer.answers.begin(context.mcpReq.id)
    const usesBoard = ability.id.startsWith('board:')
    // An agent is offered first what it holds without knowing it.
    if (usesBoard) await this.#returns.settled(peer.agent)
    const call = this.#call(ability, toolName, input, peer, context, answer)
    if (usesBoard) this.#returns.follow(peer.agent, answer, call)
    const result = await call
    return answer.lost.aborted ? errorResult(answer.lost.reason) : result
  }

  async #call(
    { id }: Ability,
    toolName: string,
    input: Record<string, unknown>,
    peer: Peer,
    context: ServerContext,
    answer: OpenAnswer,
  ): Promise<ToolResult> {
    const { maxWaitMs, progressEveryMs, clock } = this.#options
    const invoke = this.#invoke(peer, context, answer)
    const waitLimits: WaitLimits = {
      maxMs: maxWaitMs,
      inputEnded: peer.inputEnded,
      wait: (bounded, inputEnded) => this.#invoke(peer, context, answer, inputEnded)(id, bounded),
    }
    const work = async (): Promise<ToolResult> => {
      if (id === taskWait) return waitForTasks(this.#engine, input, waitLimits)
      if (id === boardWait) return waitForWork(input, waitLimits)
      const answer = await invoke(id, input)
      const result = await handleInsteadOf(id, answer, context, invoke)
      if (result !== undefined) return result
      // An answer of 10,000 tasks is validated, converted and written in three turns of the event loop: together they block it for 150 ms.
      await nextTurn()
      const converted = answerResult(answer)
      await nextTurn()
      return converted
    }
    try {
      return await withProgress(work(), progressEveryMs, clock, this.#progressReporter(toolName, context))
    } catch (error) {
      return errorResult(error)
    }
  }

  #invoke(peer: Peer, { mcpReq }: ServerContext, answer?: OpenAnswer, inputEnded?: AbortSignal): Invoke {
    const who = { agent: peer.agent, principal: peer.limitKey }
    const ends = [mcpReq.signal, answer?.lost, inputEnded].filter((each) => each !== undefined)
    const signal = AbortSignal.any(ends)
    const onUndelivered = answer === undefined ? {} : { onUndelivered: answer.whenLost }
    return (abilityId, input) => {
      const caller = isForNamed(abilityId) ? this.#program(peer) : this.#caller(peer)
      return this.#sessions.call(who, abilityId, input, { caller, signal, ...onUndelivered })
    }
  }

  #caller({ agent, principal }: Peer): Caller {
    const { abilities, bounds } = this.#options
    const known: Caller = principal === undefined ? { surface: surfaceName } : callerOf(principal, surfaceName)
    // A name chosen by the client is not a credential: it only counts for callers that have every right.
    const owner = known.owner ?? (known.scopes?.includes('admin') === false ? undefined : agent)
    return {
      ...known,
      model: true,
      abilities: [abilities.all, ...(known.abilities ?? [])],
      ...(bounds === undefined ? {} : { bounds }),
      ...(owner === undefined ? {} : { owner }),
    }
  }

  /** The caller of abilities that the server names for programs: a program, unless its credentials say that it is a model. */
  #program(peer: Peer): Caller {
    const { model: _model, ...caller } = this.#caller(peer)
    return peer.principal?.model ? { ...caller, model: true } : caller
  }

  /** Progress is only reported to clients that sent a progress token. */
  #progressReporter(toolName: string, { mcpReq }: ServerContext): (elapsedMs: number) => void {
    const progressToken = mcpReq._meta?.progressToken
    if (progressToken === undefined) return () => {}
    return (elapsedMs) => {
      const seconds = Math.round(elapsedMs / 1000)
      const params = { progressToken, progress: seconds, message: `${toolName}: ${seconds} s` }
      mcpReq.notify({ method: 'notifications/progress', params }).catch(this.#options.onError)
    }
  }
}

// What a client reads about the tools when it connects: how to work with the board, and how tasks are run.

interface Advice {
  /** Given only where all of these are offered. */
  needs: readonly string[]
  text: string
}

const advice: readonly Advice[] = [
  {
    needs: ['board:list'],
    text: 'The errand board holds tasks that outlive this conversation and that people and other agents share. Tasks are named by number: { "id": 3 }. board_list shows them all.',
  },
  {
    needs: ['board:claim_next', 'board:complete'],
    text: 'To work: board_claim_next gives you the most urgent task that is free and makes you its owner. Do what its subject and description say, and board_complete it with a short result. Then claim the next one.',
  },
  {
    needs: ['board:claim_next', 'board:wait'],
    text: 'When there is nothing to do, board_claim_next answers { "task": null } and why. If tasks are blocked or in progress, board_wait waits until one is free and claims it; if the board has no open task, you are done.',
  },
  {
    needs: ['board:release'],
    text: 'If you cannot finish a task, board_release it with the reason, so that another can take it.',
  },
  {
    needs: ['board:create'],
    text: 'Put new work on the board with board_create, and name in blockedBy what must be completed first.',
  },
  { needs: ['board:why'], text: 'board_why explains why a task does not move.' },
  {
    needs: ['task:create', 'task:wait', 'task:get'],
    text: 'task_create starts work that errand runs itself and returns at once; it continues when you disconnect. task_wait waits for a limited time and returns the current state, so call it again; task_get returns the result or the questions of a task.',
  },
]

/** The advice on the abilities that are offered; empty when there is none. */
function instructionsFor(offers: (abilityId: string) => boolean): string {
  return advice
    .filter(({ needs }) => needs.every(offers))
    .map(({ text }) => text)
    .join('\n')
}
