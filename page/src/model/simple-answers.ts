// Questions that are answered without a dialog: with one button for each answer, or with one short input.

import type { Field } from './question-form.ts'

const maxButtons = 5
const maxButtonText = 24

export interface SimpleButton {
  label: string
  value: unknown
}

export type SimpleAnswer = { kind: 'buttons'; answers: SimpleButton[] } | { kind: 'input'; field: Field }

/** Null if the question needs its whole form. */
export function simpleAnswerOf(field: Field): SimpleAnswer | null {
  switch (field.kind) {
    case 'boolean':
      return {
        kind: 'buttons',
        answers: [
          { label: 'Yes', value: true },
          { label: 'No', value: false },
        ],
      }
    case 'choice': {
      const answers = field.values.map((value) => ({ label: labelOf(value), value }))
      const fits = answers.length <= maxButtons && answers.every(({ label }) => label.length <= maxButtonText)
      return fits ? { kind: 'buttons', answers } : null
    }
    case 'text':
    case 'number':
      return { kind: 'input', field }
    case 'fields':
    case 'json':
      return null
  }
}

function labelOf(value: unknown): string {
  return typeof value === 'string' && value.trim() !== '' ? value : (JSON.stringify(value) ?? 'nothing')
}
