// Shared by the tests of routing: a model with the answers of the test that records its prompts, and candidates.

import type { AskMessage } from '../../../src/agents/routing/ask-model.ts'
import type { HandlerEngine } from '../../../src/agents/routing/handler-engine.ts'
import type { Candidate } from '../../../src/agents/routing/route.ts'
import type { Engine } from '../../../src/engine/engine-api.ts'

type Answer = string | object | Error

/**
 * Answers in turn, objects as their JSON and errors thrown; one question too many is an error too. Prompts are
 * recorded.
 */
export function scriptedModel(...answers: Answer[]) {
  const prompts: AskMessage[][] = []
  const signals: Array<AbortSignal | undefined> = []
  const ask = async (messages: AskMessage[], options?: { signal?: AbortSignal }): Promise<string> => {
    const answer = answers[prompts.length]
    prompts.push(messages)
    signals.push(options?.signal)
    if (answer === undefined) throw new Error('the script has no answer left')
    if (answer instanceof Error) throw answer
    return typeof answer === 'string' ? answer : JSON.stringify(answer)
  }
  return { ask, prompts, signals }
}

/** The texts of a prompt, by role. */
export function contentOf(prompt: AskMessage[] | undefined, role: AskMessage['role']): string {
  return (prompt ?? [])
    .filter((message) => message.role === role)
    .map((message) => message.content)
    .join('\n')
}

export function candidate(id: string, rest: Partial<Candidate> = {}): Candidate {
  return { id, name: `name of ${id}`, goal: `goal of ${id}`, status: 'working', ...rest }
}

/** An engine as the handler sees it; successful sends are recorded. */
export function handling(engine: Engine): { engine: HandlerEngine; sent: Array<{ taskId: string; text: string }> } {
  const sent: Array<{ taskId: string; text: string }> = []
  const send: HandlerEngine['send'] = async (taskId, text) => {
    const task = await engine.send(taskId, text)
    sent.push({ taskId, text })
    return task
  }
  const watched = new Proxy<HandlerEngine>(engine, {
    get: (target, name) => {
      if (name === 'send') return send
      const method = Reflect.get(target, name) as unknown
      return typeof method === 'function' ? method.bind(target) : method
    },
  })
  return { engine: watched, sent }
}
