// Answers with which a model has not ended its work, whatever they say: cut, withheld, empty, or announcing calls that do not come. The model is
// asked once more where that can help.
import { Failure } from '../../core/errors.ts'
import type { TakenStep } from '../../entities/conversation.ts'

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
export function requestAfter(steps: readonly TakenStep[], attempt: number): string | undefined {
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
