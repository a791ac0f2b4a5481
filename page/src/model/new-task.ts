// The form of a new task: what a person has entered, and the body of the request that creates the task.

import { type Entered, enteredFrom, type Field, readEntered, readJson } from './question-form.ts'

export interface Draft {
  name: string
  goal: string
  description: string
  executor: string
  /** The input of an executor with a schema, as entered in its form; null as long as the form is untouched. */
  entered: Entered | null
  /** The input of a task without such a form, as JSON. */
  input: string
  priority: string
  parentId: string
  /** Without an executor: it waits to be claimed, and no agent pursues it. */
  claimed: boolean
}

export const emptyDraft: Draft = {
  name: '',
  goal: '',
  description: '',
  executor: '',
  entered: null,
  input: '',
  priority: '0',
  parentId: '',
  claimed: false,
}

/** The error of each field. */
export type Wrong = Partial<Record<keyof Draft, string>>

/**
 * The body of the request, or the errors of the form.
 * @param form the form of the executor's input; null if its input is entered as JSON.
 */
export function bodyOf(draft: Draft, form: Field | null): { body: Record<string, unknown> } | { wrong: Wrong } {
  const wrong: Wrong = {}
  const text = (value: string) => (value.trim() === '' ? undefined : value.trim())
  const [name, description] = [text(draft.name), text(draft.description)]
  // Without a goal no agent runs it: it waits to be claimed.
  const byHand = draft.claimed && draft.executor === ''
  const goal = byHand ? undefined : text(draft.goal)
  if (byHand && name === undefined) wrong.name = 'Enter a name.'
  if (!byHand && goal === undefined && draft.executor === '') wrong.goal = 'Enter a goal or choose an executor.'
  const priority = Number(draft.priority)
  if (!Number.isInteger(priority) || draft.priority.trim() === '') wrong.priority = 'Enter a whole number.'
  const input = readInput(draft, form)
  if (input !== undefined && !input.ok) wrong[form === null ? 'input' : 'entered'] = input.message
  if (Object.keys(wrong).length > 0) return { wrong }
  return {
    body: {
      ...(name === undefined ? {} : { name }),
      ...(goal === undefined ? {} : { goal }),
      ...(description === undefined ? {} : { description }),
      ...(draft.executor === '' ? {} : { executor: draft.executor }),
      ...(input?.ok ? { input: input.value } : {}),
      ...(draft.parentId === '' ? {} : { parentId: draft.parentId }),
      priority,
    },
  }
}

function readInput({ entered, input }: Draft, form: Field | null) {
  if (form === null) return input.trim() === '' ? undefined : readJson(input)
  return readEntered(form, entered ?? enteredFrom(form, undefined))
}
