// `errand/inspect`: serves the activity of an engine's actors to inspectors on this machine.
export type {
  InspectedActor,
  InspectedSnapshot,
  InspectionEvent,
  InspectionObserver,
} from '../../actors/inspection-event.ts'
export type { RedactFunction } from '../../core/redact.ts'
export {
  type InspectedEngine,
  type InspectorOptions,
  type InspectorServer,
  serveInspector,
} from './serve-inspector.ts'
