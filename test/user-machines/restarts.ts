// Which shapes cannot be the same after a restart: an actor that lives in memory begins anew then.

import { shapes } from './shapes/index.ts'

export const changedByRestart: Readonly<Record<string, string>> = {
  'a thermometer reads what an observable gives':
    'the observable is subscribed again, and gives its values from the first on',
  'an event observable sends its values as events':
    'the observable is subscribed again, and gives its values from the first on',
  'a turnstile counts coins in a reducer': 'what a transition function has counted is in memory only',
}

export const shapesThatSurvive = shapes.filter(({ name }) => changedByRestart[name] === undefined)
