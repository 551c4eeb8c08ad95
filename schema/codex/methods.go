package codex

// Method is one method of the app-server that Hermes uses. Params and Result
// name definitions of the published schema, which does not say which result
// belongs to which request.
type Method struct {
	Wire, Params, Result string
}

// Requests are what a client asks the app-server.
var Requests = []Method{
	{"initialize", "InitializeParams", "InitializeResponse"},
	{"account/login/start", "LoginAccountParams", "LoginAccountResponse"},
	{"account/logout", "", "LogoutAccountResponse"},
	{"account/read", "GetAccountParams", "GetAccountResponse"},
	{"model/list", "ModelListParams", "ModelListResponse"},
	{"review/start", "ReviewStartParams", "ReviewStartResponse"},
	{"skills/list", "SkillsListParams", "SkillsListResponse"},
	{"thread/compact/start", "ThreadCompactStartParams", "ThreadCompactStartResponse"},
	{"thread/delete", "ThreadDeleteParams", "ThreadDeleteResponse"},
	{"thread/fork", "ThreadForkParams", "ThreadForkResponse"},
	{"thread/inject_items", "ThreadInjectItemsParams", "ThreadInjectItemsResponse"},
	{"thread/list", "ThreadListParams", "ThreadListResponse"},
	{"thread/resume", "ThreadResumeParams", "ThreadResumeResponse"},
	{"thread/start", "ThreadStartParams", "ThreadStartResponse"},
	{"thread/turns/list", "ThreadTurnsListParams", "ThreadTurnsListResponse"},
	{"thread/unsubscribe", "ThreadUnsubscribeParams", "ThreadUnsubscribeResponse"},
	{"turn/interrupt", "TurnInterruptParams", "TurnInterruptResponse"},
	{"turn/start", "TurnStartParams", "TurnStartResponse"},
	{"turn/steer", "TurnSteerParams", "TurnSteerResponse"},
}

// Questions are what the app-server asks a client.
var Questions = []Method{
	{"applyPatchApproval", "ApplyPatchApprovalParams", "ApplyPatchApprovalResponse"},
	{"execCommandApproval", "ExecCommandApprovalParams", "ExecCommandApprovalResponse"},
	{"item/commandExecution/requestApproval", "CommandExecutionRequestApprovalParams", "CommandExecutionRequestApprovalResponse"},
	{"item/fileChange/requestApproval", "FileChangeRequestApprovalParams", "FileChangeRequestApprovalResponse"},
	{"item/permissions/requestApproval", "PermissionsRequestApprovalParams", "PermissionsRequestApprovalResponse"},
	{"item/tool/requestUserInput", "ToolRequestUserInputParams", "ToolRequestUserInputResponse"},
	{"mcpServer/elicitation/request", "McpServerElicitationRequestParams", "McpServerElicitationRequestResponse"},
}

// Notifications are what the app-server tells a client.
var Notifications = []Method{
	{Wire: "account/login/completed", Params: "AccountLoginCompletedNotification"},
	{Wire: "configWarning", Params: "ConfigWarningNotification"},
	{Wire: "error", Params: "ErrorNotification"},
	{Wire: "item/agentMessage/delta", Params: "AgentMessageDeltaNotification"},
	{Wire: "item/commandExecution/outputDelta", Params: "CommandExecutionOutputDeltaNotification"},
	{Wire: "item/completed", Params: "ItemCompletedNotification"},
	{Wire: "item/fileChange/patchUpdated", Params: "FileChangePatchUpdatedNotification"},
	{Wire: "item/mcpToolCall/progress", Params: "McpToolCallProgressNotification"},
	{Wire: "item/plan/delta", Params: "PlanDeltaNotification"},
	{Wire: "item/reasoning/summaryPartAdded", Params: "ReasoningSummaryPartAddedNotification"},
	{Wire: "item/reasoning/summaryTextDelta", Params: "ReasoningSummaryTextDeltaNotification"},
	{Wire: "item/reasoning/textDelta", Params: "ReasoningTextDeltaNotification"},
	{Wire: "item/started", Params: "ItemStartedNotification"},
	{Wire: "serverRequest/resolved", Params: "ServerRequestResolvedNotification"},
	{Wire: "thread/name/updated", Params: "ThreadNameUpdatedNotification"},
	{Wire: "thread/tokenUsage/updated", Params: "ThreadTokenUsageUpdatedNotification"},
	{Wire: "turn/completed", Params: "TurnCompletedNotification"},
	{Wire: "turn/plan/updated", Params: "TurnPlanUpdatedNotification"},
	{Wire: "turn/started", Params: "TurnStartedNotification"},
	{Wire: "warning", Params: "WarningNotification"},
}

// Announcements are what a client tells the app-server.
var Announcements = []Method{{Wire: "initialized"}}

// opaque definitions stay raw JSON. Hermes passes their values on, or does not
// look at them, and they would bring many definitions with them.
var opaque = map[string]bool{
	"Account":                          true,
	"AgentMessageDisplay":              true,
	"AgentMessageModeration":           true,
	"AsyncUserInputQuestion":           true,
	"CollabAgentState":                 true,
	"CollaborationMode":                true,
	"DynamicToolCallOutputContentItem": true,
	"FunctionCallOutputBody":           true,
	"GitInfo":                          true,
	"GrantedPermissionProfile":         true,
	"HookPromptFragment":               true,
	"ImageGenerationFailure":           true,
	"ImageGenerationInputImage":        true,
	"LoginAccountParams":               true,
	"McpAppUi":                         true,
	"McpElicitationSchema":             true,
	"McpToolCallAppContext":            true,
	"MemoryCitation":                   true,
	"MisalignmentErrorDetails":         true,
	"ModelAccessPrograms":              true,
	"ModelAvailabilityNux":             true,
	"ModelServiceTier":                 true,
	"ModelUpgradeInfo":                 true,
	"NetworkApprovalContext":           true,
	"ParsedCommand":                    true,
	"RequestPermissionProfile":         true,
	"SessionSource":                    true,
	"SkillDependencies":                true,
	"SkillErrorInfo":                   true,
	"SkillInterface":                   true,
	"TextElement":                      true,
	"ThreadSection":                    true,
	"ThreadStatus":                     true,
	"TurnToolOutput":                   true,
	"WebSearchAction":                  true,
}
